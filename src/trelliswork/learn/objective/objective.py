"""The training objective: negative log-likelihood as a function of the parameter vector.

    loss(w) = Σ_b weight_b (log Z_b − log Z_b,gold) + Σ_k l2_k w_k²

with ``log Z_b,gold`` over the labellings that agree with the known labels: for a fully labelled
sequence this is the score of its labelling. The sum over sequences is split between threads, and
any range of sequences can be evaluated by itself. Penalties of soft constraints are parameters as
well, see `trelliswork.learn.objective.soft_terms`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trelliswork import _core
from trelliswork.learn.objective.layout import ParameterLayout, l2_coefficients
from trelliswork.learn.objective.parts import Part, PartsBuilder
from trelliswork.models.model import SEGMENT_KINDS, CRFModel
from trelliswork.models.pair_weights import PairWeights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from trelliswork._typing import BoolArray, FloatArray, IdArray, IntArray
    from trelliswork.automata.automaton import Automaton
    from trelliswork.features import EncodedFeatures, Encoder
    from trelliswork.labels.gold import GoldLabels
    from trelliswork.learn.objective.parts import Pairs
    from trelliswork.learn.objective.soft_terms import SoftTerms
    from trelliswork.models.structure import Structure


__all__ = ["Objective"]

KINDS = ("state", *SEGMENT_KINDS)


class Objective:
    """The regularised negative log-likelihood of a model.

    Parameters
    ----------
    features
        Features of the training set.
    gold
        Its labels as letters of the structure.
    structure
        Labels, patterns and segments.
    weights
        Weight of each sequence, shape ``(B,)``; default 1.
    l2
        Coefficient of ``‖w‖²``, or one for each order: 0 for features of tokens and segments,
        ``k`` for patterns of ``k + 1`` letters and features on them. A missing order takes the
        coefficient of the next lower one. Penalties take that of order 0.
    pairs, transitions
        Pairs of a token feature and a letter that have a weight: those ``"observed"`` in the
        labels, or ``"all"``; and the same for transitions of a first-order chain. Features of
        segments have a weight for every letter.
    automaton
        The labellings that both sums run over: a product with the automaton of the model, see
        `trelliswork.automata.product`. It must accept the gold labels. Default: all labellings.
    classes
        Class of each token, shape ``(N,)``, for an automaton with guards.
    open_labels
        Letters that the constraints allow at each token, shape ``(N, L)``, or ``(N, 2, L)`` in a
        semi-Markov model: for segments that begin and that continue there. Default: all.
    soft
        The soft constraints whose violations the automaton counts. Default: none.
    kept
        Mask of the parameters described above that exist; the others are 0. Penalties have no
        entry and always exist. Default: all.

    Attributes
    ----------
    n_parameters : int
        Number of parameters: pairs of token features, of segment features, patterns, pairs of edge
        features, then the learned penalties.
    is_convex : bool
        Whether the objective is convex: all labels are known.
    l2 : numpy.ndarray
        The coefficient of every parameter, or one for all.
    """

    def __init__(
        self,
        features: EncodedFeatures,
        gold: GoldLabels,
        structure: Structure,
        *,
        weights: FloatArray | None = None,
        l2: float | Mapping[int, float] = 0.0,
        pairs: Pairs = "observed",
        transitions: Pairs = "observed",
        automaton: Automaton | None = None,
        classes: NDArray[np.uint8] | None = None,
        open_labels: BoolArray | None = None,
        soft: SoftTerms | None = None,
        kept: BoolArray | None = None,
    ) -> None:
        self.structure = structure
        self._soft = soft
        self._automaton = structure.automaton if automaton is None else automaton
        builder = PartsBuilder(features, gold, structure, pairs, kept)
        # In the order of the parameters and of `kept`.
        self._parts: dict[str, Part] = builder.parts()
        self._patterns = patterns = builder.weighted_patterns(transitions)
        self._edge = builder.edge()
        gold_patterns = builder.gold_patterns
        self.is_convex = gold.allowed is None
        self._heaviest = 1.0 if weights is None else float(weights.max(initial=0.0))
        if soft is not None:
            n_patterns = len(structure.patterns)
            gold_patterns = soft.with_gold(features.offsets, gold_patterns, n_patterns)
            patterns = np.concatenate([patterns, soft.patterns(n_patterns)])
        own = features.segment
        segmentation = structure.segmentation
        data = _core.TrainingData(
            automaton=self._automaton._core,
            offsets=features.offsets,
            gold=gold.ids,
            begins=None if gold.begins is None else gold.begins.view(np.uint8),
            fired=gold_patterns,
            allowed=_masks(gold.allowed),
            weights=weights,
            classes=classes,
            open=_masks(open_labels),
            n_durations=builder.n_durations,
            longest=None if segmentation is None else segmentation.longest,
        )
        self._core = _core.Objective(
            data,
            [self._parts[kind].core if kind in self._parts else None for kind in KINDS],
            patterns,
            None if self._edge is None else self._edge.core,
            None if own is None or segmentation is None else (own.offsets, own.durations),
        )
        self.l2 = l2_coefficients(self.layout, l2)

    @property
    def n_parameters(self) -> int:
        """Length of the parameter vector."""
        if self._soft is None:
            return self._core.n_parameters
        return self._core.n_parameters - 2 * self._soft.terms.size + self.n_penalties

    @property
    def n_penalties(self) -> int:
        """Number of learned penalties, ``F``: the last parameters, bounded below by 0."""
        return 0 if self._soft is None else int(self._soft.learned.size)

    @property
    def layout(self) -> ParameterLayout:
        """The layout of the parameter vector."""
        return ParameterLayout(
            {kind: part.layout for kind, part in self._parts.items()},
            self._patterns,
            self.structure.patterns.lengths,
            None if self._edge is None else self._edge.layout,
            self.n_penalties,
        )

    @property
    def n_sequences(self) -> int:
        """Number of training sequences, ``B``."""
        return self._core.n_sequences

    def value_and_grad(
        self,
        parameters: FloatArray,
        gradient: FloatArray,
        *,
        sequences: range | None = None,
        n_jobs: int = 1,
    ) -> float:
        """Return the objective and write its gradient.

        Parameters
        ----------
        parameters, gradient
            Shape ``(n_parameters,)``; `gradient` is overwritten.
        sequences
            The likelihood term of these sequences alone, without l2: values and gradients of
            disjoint ranges add up to those of the whole. Default: all sequences, with l2.
        n_jobs
            Number of threads. The result depends on it only in rounding, and is deterministic.
        """
        first, last, l2 = 0, self.n_sequences, self.l2
        if sequences is not None:
            if sequences.step != 1:
                raise ValueError(f"sequences: expected a range of step 1, got {sequences}.")
            first, last, l2 = sequences.start, sequences.stop, np.zeros(1)
        if self._soft is None:
            return self._core.value_and_grad(parameters, gradient, l2, first, last, n_jobs)
        weights = self._core_parameters(self._soft, parameters)
        of_weights = np.empty_like(weights)
        value = self._core.value_and_grad(weights, of_weights, np.zeros(1), first, last, n_jobs)
        gradient[:] = self._from_core(self._soft, of_weights) + 2.0 * l2 * parameters
        return value + float(l2 @ parameters**2 if l2.size > 1 else l2[0] * parameters @ parameters)

    def online_pass(self, groups: IdArray, strengths: FloatArray, l2: float) -> _core.OnlinePass:
        """Return an online optimiser in the core for this objective with a group penalty.

        Parameters
        ----------
        groups
            The group of each parameter, −1 for none, shape ``(n_parameters,)``.
        strengths
            The coefficient of the norm of each group, shape ``(G,)``.
        l2
            The coefficient of ``‖w‖²``, instead of that of the objective.
        """
        if self._soft is not None:
            raise ValueError(
                "online: expected an objective without soft constraints, as their penalties must "
                "not fall below 0, got one with. Use another solver, or learn the penalties apart "
                'from the weights (penalties="counts").'
            )
        return _core.OnlinePass(self._core, groups, strengths, l2)

    def gold_counts(self) -> FloatArray:
        """Return the weighted count of each parameter in the fully labelled sequences.

        For penalties, the number of sequences.
        """
        counts = np.empty(self._core.n_parameters)
        self._core.gold_counts(counts)
        if self._soft is None:
            return counts
        found = self._from_core(self._soft, counts)
        found[found.size - self.n_penalties :] = self.n_sequences
        return found

    def gradient_bounds(self) -> FloatArray:
        """Return an upper bound on ``|∂ loss / ∂ w|`` of each parameter, for any weights.

        The gradient is an expectation minus a count, and the expectation of a feature lies between
        0 and its number of occurrences. The bound is infinite if nothing better is known.
        """
        found = np.full(self.n_parameters, np.inf)
        counts = self.gold_counts()
        first = 0
        for kind, part in [*self._parts.items(), ("patterns", None), ("edge", self._edge)]:
            last = first + (self._patterns.size if kind == "patterns" else 0)
            if part is not None:
                last = first + part.n_pairs
            if part is not None and kind != "length":  # the number of segments is unknown
                low, high = (self._heaviest * reach[part.features] for reach in part.reach)
                own = counts[first:last]
                found[first:last] = (
                    np.maximum(high - own, own - low) if self.is_convex else high - low
                )
            first = last
        return found

    def penalties(self, parameters: FloatArray) -> FloatArray | None:
        """Return the penalties of all constraints, shape ``(C,)``; None without soft ones."""
        if self._soft is None:
            return None
        return self._soft.all_penalties(parameters[parameters.size - self.n_penalties :])

    @property
    def learned_penalties(self) -> IntArray:
        """Indices of the constraints whose penalties are learned, shape ``(F,)``."""
        return np.zeros(0, dtype=np.int64) if self._soft is None else self._soft.learned

    def model(self, parameters: FloatArray, encoder: Encoder) -> CRFModel:
        """Return the model with the weights of a parameter vector."""
        parts, patterns, edge = self.split(parameters)
        weights = np.zeros(len(self.structure.patterns))
        weights[self._patterns] = patterns
        made = {
            kind: PairWeights(self._parts[kind].offsets, self._parts[kind].outputs, own.copy())
            for kind, own in parts.items()
        }
        if self._edge is not None:
            made["edge"] = PairWeights(self._edge.offsets, self._edge.outputs, edge.copy())
        return CRFModel(self.structure, encoder, made.pop("state"), weights, **made)

    def split(self, parameters: FloatArray) -> tuple[dict[str, FloatArray], FloatArray, FloatArray]:
        """Return the parameters of each kind of feature, of the patterns and of edge features."""
        parts: dict[str, FloatArray] = {}
        first = 0
        for kind in KINDS:
            if kind in self._parts:
                parts[kind] = parameters[first : first + self._parts[kind].n_pairs]
                first += self._parts[kind].n_pairs
        last = first + self._patterns.size
        end = parameters.size - self.n_penalties
        return parts, parameters[first:last], parameters[last:end]

    def _core_parameters(self, soft: SoftTerms, parameters: FloatArray) -> FloatArray:
        """Return the parameters of the core, with weights of violation patterns for penalties."""
        *_, edge = self.split(parameters)
        end = parameters.size - self.n_penalties
        middle = end - edge.size
        penalties = soft.weights(parameters[end:])
        return np.concatenate([parameters[:middle], penalties, parameters[middle:end]])

    def _from_core(self, soft: SoftTerms, of_weights: FloatArray) -> FloatArray:
        """Return the gradient of the parameters from that of the core."""
        n_edge = 0 if self._edge is None else self._edge.n_pairs
        end = of_weights.size - n_edge
        middle = end - 2 * soft.terms.size
        of_penalties = soft.gradient(of_weights[middle:end])
        return np.concatenate([of_weights[:middle], of_weights[end:], of_penalties])


def _masks(allowed: BoolArray | None) -> NDArray[np.uint8] | None:
    """Return a mask in the format of the core, shape ``(N, 1 or 2, L)``."""
    if allowed is None:
        return None
    masks = np.ascontiguousarray(allowed).view(np.uint8)
    return masks[:, None, :] if masks.ndim == 2 else masks
