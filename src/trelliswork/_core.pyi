from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]
_WeightedRows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64] | None]
_Arcs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]  # source, label, target
_Lists = tuple[NDArray[np.int64], NDArray[np.int32]]  # offsets, and the entries they part

class UnicodeTable:
    def __init__(
        self,
        classes: NDArray[np.uint8],
        lower: NDArray[np.int32],
        upper: NDArray[np.int32],
        expansions: Mapping[int, str],
    ) -> None: ...

class Regex:
    def __init__(self, expression: str, wapiti: bool, unicode: UnicodeTable) -> None: ...
    def fullmatch(self, text: str, /) -> bool: ...
    def search(self, text: str, /) -> tuple[int, int] | None: ...

class FeatureProgram:
    def __init__(
        self,
        n_columns: int,
        attributes: Sequence[tuple[int, int, Sequence[tuple[int, int]], int, int, bool]],
        templates: Sequence[tuple[Sequence[tuple[int, int]], bool, int, list[str]]],
        patterns: Sequence[Regex],
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
        self,
        keep_state: NDArray[np.uint8],
        keep_edge: NDArray[np.uint8],
        program: FeatureProgram,
        origins: NDArray[np.int64],
    ) -> FeatureIndex: ...
    def live_templates(self, edge: bool, keep: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
    def arrays(self) -> dict[str, NDArray[np.generic]]: ...
    def names(self, edge: bool) -> list[str]: ...
    def feature_templates(self, edge: bool) -> NDArray[np.int32]: ...
    @property
    def has_edges(self) -> bool: ...
    @property
    def n_state(self) -> int: ...
    @property
    def n_edge(self) -> int: ...

class SegmentProgram:
    def __init__(
        self,
        n_columns: int,
        rules: Sequence[tuple[int, int, int, str]],
        lexicons: Sequence[tuple[list[list[str]], bool]],
        unicode: UnicodeTable,
    ) -> None: ...

class SegmentIndex:
    @staticmethod
    def fit(
        program: SegmentProgram,
        batch: TokenBatch,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        max_duration: int,
        min_count: int,
    ) -> SegmentIndex: ...
    @staticmethod
    def from_arrays(
        program: SegmentProgram,
        word_bytes: NDArray[np.uint8],
        word_offsets: NDArray[np.int64],
        word_counts: NDArray[np.int64],
        step_keys: NDArray[np.uint64],
        step_counts: NDArray[np.int64],
        node_features: NDArray[np.int32],
        rule_features: NDArray[np.int32],
    ) -> SegmentIndex: ...
    def transform(
        self, batch: TokenBatch, max_duration: int, n_workers: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
    def select(
        self, keep: NDArray[np.uint8], program: SegmentProgram, origins: NDArray[np.int64]
    ) -> SegmentIndex: ...
    def arrays(self) -> dict[str, NDArray[np.generic]]: ...
    def names(self) -> list[str]: ...
    def feature_rules(self) -> NDArray[np.int32]: ...
    @property
    def n_features(self) -> int: ...

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
    def feature_templates(self) -> tuple[list[str], NDArray[np.int32]]: ...
    @property
    def n_features(self) -> int: ...

class Automaton:
    def __init__(
        self,
        n_states: int,
        n_labels: int,
        n_patterns: int,
        arcs: _Arcs,
        patterns: _Lists,
        initial: NDArray[np.float64],
        final: NDArray[np.float64],
        guards: NDArray[np.uint64] | None,
        n_classes: int,
        contexts: NDArray[np.int32] | None,
        parents: NDArray[np.int32] | None,
    ) -> None: ...
    @property
    def is_chain(self) -> bool: ...
    @property
    def n_steps(self) -> int: ...

def most_arcs(max_states: int) -> int: ...

class Language:
    def __init__(
        self,
        n_states: int,
        n_labels: int,
        source: NDArray[np.int32],
        label: NDArray[np.int32],
        target: NDArray[np.int32],
        initial: NDArray[np.uint8],
        final: NDArray[np.uint8],
        /,
    ) -> None: ...
    @property
    def n_states(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_arcs(self) -> int: ...
    @property
    def is_deterministic(self) -> bool: ...
    @property
    def is_empty(self) -> bool: ...
    @property
    def has_empty_string(self) -> bool: ...
    def arrays(
        self,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.uint8],
        NDArray[np.uint8],
    ]: ...
    def trim(self) -> Language: ...
    def reverse(self) -> Language: ...
    def renumber(self) -> Language: ...
    def unite(self, other: Language, /) -> Language: ...
    def concatenate(self, other: Language, /) -> Language: ...
    def star(self) -> Language: ...
    def complete(self) -> Language: ...
    def intersect(self, other: Language, max_states: int) -> Language | None: ...
    def determinise(self, max_states: int, max_steps: int = ...) -> Language | None: ...
    def minimise(self, max_states: int, max_steps: int = ...) -> Language | None: ...
    def complement(self, max_states: int) -> Language | None: ...
    def is_ambiguous(self, max_pairs: int) -> bool | None: ...
    def accepts(
        self,
        labels: NDArray[np.int64],
        offsets: NDArray[np.int64],
        accepted: NDArray[np.uint8],
        /,
    ) -> None: ...

def product(
    model: Automaton, language: Language, n_classes: int, max_arcs: int
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.uint64],
]: ...

class Batch:
    def __init__(
        self,
        automaton: Automaton,
        offsets: NDArray[np.int64],
        scores: NDArray[np.float64],
        start: NDArray[np.float64] | None,
        end: NDArray[np.float64] | None,
        allowed: NDArray[np.uint8] | None,
        weights: NDArray[np.float64] | None,
        position_weights: NDArray[np.float64] | None,
        classes: NDArray[np.uint8] | None,
        memory_limit: int,
        n_jobs: int,
    ) -> None: ...
    def log_partition(self, log_z: NDArray[np.float64], rest: NDArray[np.float64], /) -> None: ...
    def posteriors(
        self,
        log_z: NDArray[np.float64],
        segments: NDArray[np.float64],
        pattern_counts: NDArray[np.float64],
        arcs: NDArray[np.float64] | None,
        entropy: NDArray[np.float64] | None,
    ) -> None: ...
    def best_path(
        self,
        labels: NDArray[np.int32],
        begins: NDArray[np.uint8],
        scores: NDArray[np.float64],
        /,
    ) -> None: ...
    def best_paths(
        self,
        labels: NDArray[np.int32],
        begins: NDArray[np.uint8],
        scores: NDArray[np.float64],
        /,
    ) -> None: ...
    def sample(
        self,
        seed: int,
        labels: NDArray[np.int32],
        begins: NDArray[np.uint8],
        log_z: NDArray[np.float64],
        /,
    ) -> None: ...

def find_not_a_score(values: NDArray[np.float64], /) -> int: ...

# For tests: of the inner loops. "portable", "avx2" or "avx512".
def instruction_set() -> str: ...

class FeatureRows:
    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        values: NDArray[np.float64] | None,
    ) -> None: ...

class FeatureScorer:
    def __init__(
        self,
        n_outputs: int,
        pair_offsets: NDArray[np.int64],
        pair_outputs: NDArray[np.int32],
        weights: NDArray[np.float64],
    ) -> None: ...
    def score(self, rows: FeatureRows, out: NDArray[np.float64], n_jobs: int) -> None: ...

class FeaturePart:
    def __init__(
        self,
        rows: FeatureRows,
        n_outputs: int,
        pair_offsets: NDArray[np.int64],
        pair_outputs: NDArray[np.int32],
    ) -> None: ...

class TrainingData:
    def __init__(
        self,
        *,
        automaton: Automaton,
        offsets: NDArray[np.int64],
        gold: NDArray[np.int32],
        begins: NDArray[np.uint8] | None,
        fired: _Lists,
        allowed: NDArray[np.uint8] | None,
        weights: NDArray[np.float64] | None,
        classes: NDArray[np.uint8] | None,
        open: NDArray[np.uint8] | None,
        n_durations: int,
        longest: NDArray[np.int32] | None,
    ) -> None: ...

class Objective:
    def __init__(
        self,
        data: TrainingData,
        features: Sequence[FeaturePart | None],
        patterns: NDArray[np.int32],
        edge: FeaturePart | None,
        segments: _Lists | None,
    ) -> None: ...
    @property
    def n_parameters(self) -> int: ...
    @property
    def n_sequences(self) -> int: ...
    def gold_counts(self, counts: NDArray[np.float64], /) -> None: ...
    def value_and_grad(
        self,
        parameters: NDArray[np.float64],
        gradient: NDArray[np.float64],
        l2: NDArray[np.float64],
        first: int,
        last: int,
        n_jobs: int,
    ) -> float: ...

class OnlinePass:
    def __init__(
        self,
        objective: Objective,
        groups: NDArray[np.int32],
        strengths: NDArray[np.float64],
        l2: float,
    ) -> None: ...
    def begin(self, parameters: NDArray[np.float64]) -> None: ...
    def run(self, order: NDArray[np.int64], rates: NDArray[np.float64]) -> float: ...
    def end(self, parameters: NDArray[np.float64]) -> None: ...

def segment_scores(
    offsets: NDArray[np.int64],
    token: NDArray[np.float64],
    begin: NDArray[np.float64] | None,
    end: NDArray[np.float64] | None,
    by_length: NDArray[np.float64] | None,
    longest: NDArray[np.int32],
    segment_offsets: NDArray[np.int64] | None,
    durations: NDArray[np.int32] | None,
    own: NDArray[np.float64] | None,
    out: NDArray[np.float64],
    n_jobs: int,
) -> None: ...

class Perceptron:
    def __init__(
        self,
        automaton: Automaton,
        offsets: NDArray[np.int64],
        feature_offsets: NDArray[np.int64],
        features: NDArray[np.int32],
        values: NDArray[np.float64] | None,
        n_features: int,
        gold: NDArray[np.int32],
        fired_offsets: NDArray[np.int64],
        fired: NDArray[np.int32],
        amounts: NDArray[np.float64],
    ) -> None: ...
    def run(
        self,
        order: NDArray[np.int64],
        step: int,
        state: NDArray[np.float64],
        late_state: NDArray[np.float64],
        patterns: NDArray[np.float64],
        late_patterns: NDArray[np.float64],
        learned_state: NDArray[np.uint8] | None = None,
        learned_patterns: NDArray[np.uint8] | None = None,
    ) -> tuple[int, int]: ...

def observed_pairs(
    rows: FeatureRows,
    n_features: int,
    n_labels: int,
    labels: NDArray[np.int32],
    allowed: NDArray[np.uint8] | None,
    all: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...

class LayerOptions:
    def __init__(
        self, *, batch_first: bool, ignored_tag: int, memory_limit: int, n_jobs: int
    ) -> None: ...

# log_z and gold (B,); gradient: those of emissions, start, end and transitions.
class LayerValues:
    @property
    def log_z(self) -> NDArray[np.float64]: ...
    @property
    def gold(self) -> NDArray[np.float64]: ...
    @property
    def gradient(
        self,
    ) -> (
        tuple[
            NDArray[np.floating],
            NDArray[np.float64],
            NDArray[np.float64],
            NDArray[np.float64],
        ]
        | None
    ): ...

def log_likelihood_float32(
    automaton: Automaton,
    emissions: NDArray[np.float32],
    tags: NDArray[np.int64] | None,
    mask: NDArray[np.uint8] | None,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    transitions: NDArray[np.float64],
    options: LayerOptions,
    weights: NDArray[np.float64] | None,
    with_gradient: bool,
) -> LayerValues: ...
def log_likelihood_float64(
    automaton: Automaton,
    emissions: NDArray[np.float64],
    tags: NDArray[np.int64] | None,
    mask: NDArray[np.uint8] | None,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    transitions: NDArray[np.float64],
    options: LayerOptions,
    weights: NDArray[np.float64] | None,
    with_gradient: bool,
) -> LayerValues: ...

class CountRows:
    def __init__(
        self,
        pattern_event: NDArray[np.int32],
        start_event: NDArray[np.int32] | None,
        n_quantities: int,
        event_offsets: NDArray[np.int64],
        event_quantities: NDArray[np.int32],
        event_times: NDArray[np.int64],
        row_offsets: NDArray[np.int64],
        row_quantities: NDArray[np.int32],
        row_times: NDArray[np.int64],
        bounds: NDArray[np.float64],
        penalties: NDArray[np.float64],
    ) -> None: ...

# method: 0 dual, 1 search, 2 branch, 3 best. step: 0 for Polyak's. seconds a sequence, 0: no limit.
class SolverOptions:
    def __init__(
        self,
        *,
        method: int,
        max_iterations: int,
        step: float,
        tolerance: float,
        seconds: float,
        max_states: int,
        max_nodes: int,
        group_of_tag: NDArray[np.int32],
    ) -> None: ...

# labels and begins (N,); scores, bounds, status and methods (B,). status: 0 optimal, 1 feasible,
# 2 infeasible, 3 unsolved. Where there is no labelling, its labels are −1.
class BatchAnswers:
    @property
    def labels(self) -> NDArray[np.int32]: ...
    @property
    def begins(self) -> NDArray[np.uint8]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def bounds(self) -> NDArray[np.float64]: ...
    @property
    def status(self) -> NDArray[np.int32]: ...
    @property
    def methods(self) -> NDArray[np.int32]: ...

# iterations (B,), prices and counted (B, R). leaves: of branch and bound, a list a sequence; what
# each has decided, as (token, group, inside), and its prices (R,).
class SolverAnswers(BatchAnswers):
    @property
    def iterations(self) -> NDArray[np.int64]: ...
    @property
    def prices(self) -> NDArray[np.float64]: ...
    @property
    def counted(self) -> NDArray[np.uint8]: ...
    @property
    def leaves(self) -> list[list[tuple[list[tuple[int, int, bool]], NDArray[np.float64]]]]: ...

def solve(
    batch: Batch,
    rows: CountRows,
    options: SolverOptions,
    classes: NDArray[np.uint8] | None = None,
    class_weights: NDArray[np.float64] | None = None,
    warm_prices: NDArray[np.float64] | None = None,
) -> SolverAnswers: ...

class ViolationAutomaton:
    def __init__(
        self, empty: int, start: int, next: NDArray[np.int32], step: NDArray[np.int64]
    ) -> None: ...

# A term with what a violation costs, and the classes of tokens that its letters see.
class SearchTerm:
    def __init__(
        self, automaton: ViolationAutomaton, penalty: float, classes: NDArray[np.uint8] | None
    ) -> None: ...

# count gets a sequence, its first tags, how many of these are new, and what was counted before.
class Predicates:
    def __init__(
        self,
        penalties: NDArray[np.float64],
        reads_prefixes: bool,
        count: Callable[[int, list[int], int, list[int]], list[int]] | None,
    ) -> None: ...

# method: 0 beam, 1 best first. width: 0 for all. seconds a sequence, 0: no limit.
class PrefixOptions:
    def __init__(
        self, *, method: int, width: int, max_states: int, seconds: float, tolerance: float
    ) -> None: ...

class PrefixAnswers(BatchAnswers):
    @property
    def expanded(self) -> NDArray[np.int64]: ...

def search_prefixes(
    batch: Batch, terms: list[SearchTerm], predicates: Predicates, options: PrefixOptions
) -> PrefixAnswers: ...

# A factor of a graph with an inner dynamic program. Its members are for tests. fixed: −1 free,
# 0, 1.
class Structure:
    @property
    def size(self) -> int: ...
    @property
    def lowest(self) -> float: ...
    @property
    def scale(self) -> float: ...
    def maximize(
        self, scores: NDArray[np.float64], fixed: NDArray[np.int8]
    ) -> tuple[float, NDArray[np.uint8]]: ...
    def value(self, on: NDArray[np.uint8]) -> float: ...

def pair_structure(table: NDArray[np.float64]) -> Structure: ...
def chain_structure(
    automaton: Automaton,
    patterns: NDArray[np.float64],
    start: NDArray[np.float64] | None,
    end: NDArray[np.float64] | None,
    n_tokens: int,
) -> Structure: ...
def span_structure(
    n_tokens: int, starts: NDArray[np.int32], ends: NDArray[np.int32]
) -> Structure: ...

# For tests.
class ActiveSet:
    def __init__(self, max_steps: int = 1000) -> None: ...
    def solve(
        self,
        structure: Structure,
        fixed: NDArray[np.int8],
        point: NDArray[np.float64],
        eta: float,
    ) -> NDArray[np.float64] | None: ...
    @property
    def expected_value(self) -> float: ...
    @property
    def n_active(self) -> int: ...
    @property
    def n_oracle_calls(self) -> int: ...

# For tests. kind: see Graph. weights: of a knapsack, else None. The maximum is −inf where there is
# no configuration; project_logic raises ValueError there.
def accepts_logic(
    kind: int, on: NDArray[np.uint8], weights: NDArray[np.float64] | None, limit: float
) -> bool: ...
def maximize_logic(
    kind: int, scores: NDArray[np.float64], weights: NDArray[np.float64] | None, limit: float
) -> tuple[float, NDArray[np.uint8]]: ...
def project_logic(
    kind: int, point: NDArray[np.float64], weights: NDArray[np.float64] | None, limit: float
) -> NDArray[np.float64]: ...

# A graph with N variables, M factors and K links. fixed: −1 free, 0, 1. kinds: xor_one,
# at_most_one, or_any, or_out, xor_out, budget, knapsack, structured; structures: of the structured
# factors, in order. The links of factor m are offsets[m] … offsets[m + 1].
class Graph:
    def __init__(
        self,
        scores: NDArray[np.float64],
        fixed: NDArray[np.int8],
        kinds: NDArray[np.int8],
        offsets: NDArray[np.int64],
        variables: NDArray[np.int32],
        negated: NDArray[np.uint8],
        weights: NDArray[np.float64],
        limits: NDArray[np.float64],
        structures: list[Structure],
    ) -> None: ...

# method: 0 ad3, 1 branch, 2 dual. tolerance is that of residuals, gap that of bound − score,
# relative to 1 + |score|. seconds a graph, 0: no limit.
class GraphOptions:
    def __init__(
        self,
        *,
        method: int,
        eta: float,
        adapt: bool,
        tolerance: float,
        caching: bool,
        gap: float,
        max_iterations: int,
        node_iterations: int,
        seconds: float,
        max_nodes: int,
        certify: bool,
    ) -> None: ...

# Where to begin: shares of links (K,), values of variables (N,).
class GraphStart:
    def __init__(
        self, shares: NDArray[np.float64] | None, values: NDArray[np.uint8] | None
    ) -> None: ...

# status: 0 optimal, 1 feasible, 2 infeasible, 3 unsolved, 4 fractional. The score is −inf where
# there are no values. leaves: what each has decided of variables, and the shares of its links (K,).
class GraphAnswer:
    @property
    def status(self) -> int: ...
    @property
    def values(self) -> NDArray[np.uint8] | None: ...
    @property
    def relaxed(self) -> NDArray[np.float64] | None: ...
    @property
    def score(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def iterations(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def n_solved(self) -> int: ...
    @property
    def n_cached(self) -> int: ...
    @property
    def leaves(self) -> list[tuple[list[tuple[int, bool]], NDArray[np.float64]]]: ...

# The callback gets (graph, iterations, nodes, score, bound, primal residual, dual residual); True
# stops that graph.
def solve_graphs(
    graphs: list[Graph],
    options: GraphOptions,
    starts: list[GraphStart | None] | None = None,
    callback: Callable[[int, int, int, float, float, float, float], bool] | None = None,
    n_jobs: int = 1,
) -> list[GraphAnswer]: ...

class SpanRules:
    def __init__(
        self,
        n_roles: int,
        sizes: list[int],
        roles: list[int],
        coefficients: list[float],
        bounds: list[float],
        penalties: list[float],
    ) -> None: ...

# Spans (S, 2) with their scores (S, R). apart: no two of those chosen may overlap. The constant is
# part of the score of every choice.
class SpanProblem:
    def __init__(
        self,
        spans: NDArray[np.int64],
        scores: NDArray[np.float64],
        rules: SpanRules,
        apart: bool,
        constant: float,
    ) -> None: ...

# max_iterations: of the dual at the root. tolerance of bound − score, relative to 1 + |score|.
# seconds a problem, max_nodes of branch and bound, 0: no limit.
class SpanOptions:
    def __init__(
        self, *, max_iterations: int, tolerance: float, seconds: float, max_nodes: int
    ) -> None: ...

# status: 0 optimal, 1 feasible, 2 infeasible, 3 unsolved. choices: (span, role). leaves: what each
# has decided, as (span, role, taken), and its prices (C,).
class SpanAnswer:
    @property
    def status(self) -> int: ...
    @property
    def choices(self) -> list[tuple[int, int]]: ...
    @property
    def score(self) -> float: ...
    @property
    def bound(self) -> float: ...
    @property
    def iterations(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def leaves(self) -> list[tuple[list[tuple[int, int, bool]], NDArray[np.float64]]]: ...

def solve_spans(
    problems: list[SpanProblem], options: SpanOptions, n_jobs: int = 1
) -> list[SpanAnswer]: ...
