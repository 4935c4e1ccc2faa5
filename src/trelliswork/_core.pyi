from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]
_WeightedRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64] | None]

class UnicodeTable:
    def __init__(
        self,
        classes: NDArray[np.uint8],
        lower: NDArray[np.int32],
        upper: NDArray[np.int32],
        expansions: Mapping[int, str],
    ) -> None: ...

class Pattern:
    def __init__(self, expression: str, wapiti: bool, unicode: UnicodeTable) -> None: ...
    def fullmatch(self, text: str, /) -> bool: ...
    def search(self, text: str, /) -> tuple[int, int] | None: ...

class FeatureProgram:
    def __init__(
        self,
        n_columns: int,
        attributes: Sequence[tuple[int, int, Sequence[tuple[int, int]], int, int, bool]],
        templates: Sequence[tuple[Sequence[tuple[int, int]], bool, int, list[str]]],
        patterns: Sequence[Pattern],
        lexicons: Sequence[tuple[list[list[str]], bool]],
        unicode: UnicodeTable | None,
    ) -> None: ...

class TokenBatch:
    def __init__(
        self,
        sentences: list[object],
        keys: Sequence[str | int | None],
        in_rows: Sequence[int],
    ) -> None: ...
    def offsets(self) -> NDArray[np.int64]: ...

class FeatureIndex:
    @staticmethod
    def fit(
        program: FeatureProgram, batch: TokenBatch, min_count: int
    ) -> tuple[FeatureIndex, _Rows]: ...
    @staticmethod
    def from_arrays(
        program: FeatureProgram,
        value_bytes: NDArray[np.uint8],
        value_offsets: NDArray[np.int64],
        value_counts: NDArray[np.int64],
        ngram_keys: NDArray[np.uint64],
        ngram_counts: NDArray[np.int64],
        feature_rows: NDArray[np.int32],
        n_features: NDArray[np.int64],
    ) -> FeatureIndex: ...
    def transform(self, batch: TokenBatch, n_workers: int) -> _Rows: ...
    def select(
        self, keep_state: NDArray[np.uint8], keep_edge: NDArray[np.uint8]
    ) -> FeatureIndex: ...
    def arrays(self) -> dict[str, NDArray[np.generic]]: ...
    def names(self, edge: bool) -> list[str]: ...
    @property
    def n_state(self) -> int: ...
    @property
    def n_edge(self) -> int: ...

class ItemBatch:
    def __init__(self, sequences: list[object]) -> None: ...
    def offsets(self) -> NDArray[np.int64]: ...

class ItemIndex:
    def __init__(self, name_bytes: NDArray[np.uint8], name_offsets: NDArray[np.int64]) -> None: ...
    @staticmethod
    def fit(batch: ItemBatch, min_count: int) -> tuple[ItemIndex, _WeightedRows]: ...
    def transform(self, batch: ItemBatch) -> _WeightedRows: ...
    def select(self, keep: NDArray[np.uint8]) -> ItemIndex: ...
    def arrays(self) -> dict[str, NDArray[np.generic]]: ...
    def names(self) -> list[str]: ...
    @property
    def n_features(self) -> int: ...
