"""The group lasso: groups of weights that are zero or nonzero together.

    Ω(w) = Σ_levels strength Σ_g ‖w_g‖

Groups by template select templates; groups by feature select features. Several levels select from
coarse to fine: whole templates become 0, features within the remaining templates, and with `l1` of
the tagger single weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from trelliswork.learn.sparsity.group_norms import GroupNorms, Norm

if TYPE_CHECKING:
    from trelliswork._typing import IdArray, IntArray
    from trelliswork.features import Encoder
    from trelliswork.learn.objective.layout import ParameterLayout


__all__ = ["GroupLasso", "Grouping"]

Grouping: TypeAlias = Literal["template", "feature", "label", "pattern", "order"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)


@dataclass(frozen=True)
class GroupLasso:
    """A penalty on the norms of groups of weights, as ``CRFTagger(regularizer=…)`` takes it.

    Parameters
    ----------
    by
        The groups. ``"template"``: all weights of a feature template, such as ``word[-1]``; for
        feature dicts, of a key. ``"feature"``: the weights of a feature for all labels.
        ``"label"``: the weights of all features for a label. ``"pattern"``: the weight of a label
        pattern, and those of features on it. ``"order"``: the weights of all label patterns of one
        length. Several of these give one level of groups each; levels may be nested
        (``("template", "feature")``) or cross (``("template", "label")``).
    strength
        ``λ``, one number for all levels or one per level.
    norm
        ``"l2"``, the Euclidean norm, or ``"linf"``, the largest absolute weight.
    scaled
        Whether the norm of a group is multiplied by ``√|g|``, with ``|g|`` its number of weights.
        All groups are then equally likely to be nonzero on noise alone. Templates of words become 0
        first, as most of their weights are of rare features: on CoNLL-2000 the same number of
        templates has half a point of F1 less.
    adaptive
        Whether the strength of a group is divided by its norm in an initial fit under l2 alone,
        relative to the mean (the adaptive lasso of Zou 2006). Large groups are then penalised less,
        small ones more. Needs fewer groups for the same F1, and one more training run.

    Examples
    --------
    >>> GroupLasso(by="template", strength=2.0)
    GroupLasso(by='template', strength=2.0, norm='l2', scaled=False, adaptive=False)
    >>> GroupLasso(by="colour")
    Traceback (most recent call last):
        ...
    ValueError: by: expected template, feature, label, pattern or order, or several, got 'colour'.
    """

    by: Grouping | Sequence[Grouping] = "template"
    strength: float | Sequence[float] = 1.0
    norm: Norm = "l2"
    scaled: bool = False
    adaptive: bool = False

    def __post_init__(self) -> None:
        for field in ("by", "strength"):  # for equality and hashing
            value = getattr(self, field)
            value = value.tolist() if isinstance(value, np.ndarray) else value
            object.__setattr__(self, field, tuple(value) if isinstance(value, list) else value)
        names = self.names
        if (
            not names
            or any(name not in GROUPINGS for name in names)
            or len(set(names)) < len(names)
        ):
            raise ValueError(
                f"by: expected {', '.join(GROUPINGS[:-1])} or {GROUPINGS[-1]}, or several, got "
                f"{self.by!r}."
            )
        given = self.strengths
        if len(given) != len(names):
            raise ValueError(
                f"strength: expected one number, or {len(names)} as there are in by, got "
                f"{self.strength!r}."
            )
        for value in given:
            if isinstance(value, bool) or not isinstance(value, int | float | np.number):
                raise TypeError(f"strength: expected numbers, got {value!r}.")
            if not 0.0 <= value < np.inf:
                raise ValueError(f"strength: expected finite numbers from 0 up, got {value!r}.")
        for name in ("scaled", "adaptive"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise TypeError(f"{name}: expected True or False, got {getattr(self, name)!r}.")
        if self.norm not in get_args(Norm):
            raise ValueError(f"norm: expected 'l2' or 'linf', got {self.norm!r}.")

    @property
    def names(self) -> tuple[Grouping, ...]:
        """The levels of groups."""
        by: Any = self.by  # unchecked here
        return tuple(by) if isinstance(by, Sequence) and not isinstance(by, str) else (by,)

    @property
    def strengths(self) -> tuple[float, ...]:
        """``λ`` of each level."""
        if isinstance(self.strength, Sequence):
            return tuple(self.strength)
        return (self.strength,) * len(self.names)

    def times(self, factor: float) -> GroupLasso:
        """Return the penalty with all strengths multiplied."""
        scaled = tuple(float(factor * value) for value in self.strengths)
        strength = scaled if isinstance(self.strength, Sequence) else scaled[0]
        return replace(self, strength=strength)

    def levels(self, layout: ParameterLayout, encoder: Encoder) -> list[GroupNorms]:
        """Return the norms of groups of parameters.

        Parameters
        ----------
        layout
            The layout of the parameters.
        encoder
            The features.
        """
        found = []
        for name, strength in zip(self.names, self.strengths, strict=True):
            groups = parameter_groups(layout, encoder, name)
            sizes = np.bincount(groups[groups >= 0]).astype(np.float64)
            weights = np.sqrt(sizes) if self.scaled else np.ones(sizes.size)
            found.append(GroupNorms(groups, strength * weights, self.norm))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as JSON values."""
        found = asdict(self)
        found["by"] = self.by if isinstance(self.by, str) else list(self.by)
        is_one = not isinstance(self.strength, Sequence)
        strengths = [float(value) for value in self.strengths]
        found["strength"] = strengths[0] if is_one else strengths
        found["scaled"] = bool(self.scaled)
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GroupLasso:
        """Return the group lasso that `to_dict` wrote."""
        by, strength = data["by"], data["strength"]
        return cls(
            tuple(by) if isinstance(by, list) else by,
            tuple(strength) if isinstance(strength, list) else strength,
            data["norm"],
            data["scaled"],
            data["adaptive"],
        )


def parameter_groups(layout: ParameterLayout, encoder: Encoder, by: Grouping) -> IdArray:
    """Return the group of each parameter, from 0, or −1 for none, shape ``(n,)``."""
    templates = encoder.feature_templates() if by == "template" else {}
    pieces: list[IntArray] = []
    n_groups = 0
    for kind, part in layout.parts.items():
        if by == "template":
            # Segment lengths have weights as well, and form one template.
            names, owner = templates.get(kind, ([kind], np.zeros(part.n_features, np.int32)))
            pieces.append(n_groups + owner[part.features].astype(np.int64))
            n_groups += len(names)
        elif by == "feature":
            pieces.append(n_groups + part.features)
            n_groups += part.n_features
        elif by == "label":
            pieces.append(part.outputs.astype(np.int64))
        else:
            pieces.append(np.full(part.n_pairs, -1))
    on_patterns = by in ("pattern", "order")
    own = layout.lengths if by == "order" else np.arange(layout.lengths.size)
    pieces.append(own[layout.patterns] if on_patterns else np.full(layout.patterns.size, -1))
    edge = layout.edge
    if edge is not None:
        if on_patterns:
            pieces.append(own[edge.outputs])
        elif by == "label":
            pieces.append(np.full(edge.n_pairs, -1))
        else:
            owners = (
                templates["edge"][1].astype(np.int64)
                if by == "template"
                else np.arange(edge.n_features)
            )
            pieces.append(n_groups + owners[edge.features])
    pieces.append(np.full(layout.n_penalties, -1))
    raw = np.concatenate(pieces)
    found = np.full(raw.size, -1, dtype=np.int32)
    grouped = raw[raw >= 0]
    numbers = np.cumsum(np.bincount(grouped) > 0) - 1  # leaves out groups without weights
    found[raw >= 0] = numbers[grouped]
    return found
