"""The problem of learning penalties: a trained tagger, labelled sentences, and their answers.

The scores of all sentences are computed once; only the penalties change from step to step, and most
answers do not change with them. An answer ``ŷ`` that is best under penalties ``ρ`` stays best under
``ρ' ≥ ρ`` if its own penalty is the same, ``(ρ' − ρ) · v(ŷ) = 0``: no other labelling improves. So
a sentence whose unconstrained answer breaks no rule with a positive penalty is never decoded again.
``B`` sentences, ``N`` tokens, ``L`` letters, ``C`` rules to learn.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from trelliswork.constraints.soft import Soft
from trelliswork.decoding.exact import decode_batch
from trelliswork.features.inputs import allowed_labels, sequence_length
from trelliswork.inference.trellis import derive
from trelliswork.inference.verbs import viterbi
from trelliswork.labels.schemes import names_in
from trelliswork.learn.penalties.run import Answers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from trelliswork._typing import BoolArray, FloatArray, IntArray
    from trelliswork.data.sentence import Label
    from trelliswork.decoding.conflicts import OnInfeasible
    from trelliswork.inference.trellis import Trellis
    from trelliswork.labels.label_set import LabelSet
    from trelliswork.models.model import CRFModel
    from trelliswork.planning.plan import Plan


__all__ = ["PenaltyTagger", "TaggerProblem", "rules_to_learn"]

logger = logging.getLogger(__name__)


class PenaltyTagger(Protocol):
    """A trained tagger as penalty learning sees it: a model that decodes under constraints.

    Attributes
    ----------
    model_ : CRFModel
        The weights.
    plan_ : Plan
        The compiled constraints.
    labels_ : LabelSet
        The labels.
    constraints
        The constraints as they were given.
    n_jobs : int or None
        Threads.
    on_infeasible : str
        What to do with a sequence that no labelling fits.
    """

    model_: CRFModel
    plan_: Plan
    labels_: LabelSet
    constraints: Any
    n_jobs: int | None
    on_infeasible: OnInfeasible

    def with_constraints(self, constraints: Any) -> Self:
        """Return the tagger under other constraints, with the same weights."""

    def predict(self, X: Any) -> list[list[str]]:  # noqa: N803
        """Return the best labelling of each sequence."""


class TaggerProblem:
    """Penalty learning for a tagger; see `LearningProblem`.

    Sentences whose gold labels are unknown to the model, or impossible, are left out. Unlabelled
    tokens get the labels that the model predicts without constraints.

    Parameters
    ----------
    tagger
        A trained tagger. The penalties of soft constraints that are not given are learned.
    sequences
        The sentences, as a list.
    labels
        Their labels.

    Attributes
    ----------
    rules : numpy.ndarray
        Indices of the ``C`` constraints whose penalty is learned.
    """

    def __init__(
        self, tagger: PenaltyTagger, sequences: list[Any], labels: Sequence[Sequence[Label]]
    ) -> None:
        self._tagger, self._plan = tagger, tagger.plan_
        self._decoder = tagger.plan_
        self.rules = rules_to_learn(tagger)
        known = set(tagger.labels_)
        usable = np.array([names_in(own) <= known for own in labels], dtype=bool)
        sequences, labels = _take(sequences, usable), _take(labels, usable)
        trellis = tagger.model_.trellis(sequences, n_jobs=tagger.n_jobs)
        mask = self._plan.tag_mask(allowed_labels(tagger.labels_, labels, "y"))
        gold = viterbi(trellis, allowed=mask, n_jobs=tagger.n_jobs)
        possible = np.isfinite(gold.scores)
        if not (usable.all() and possible.all()):
            logger.warning(
                "%d of %d sentences have labels that the model does not know or cannot give; they "
                "are left out",
                usable.size - possible.sum(),
                usable.size,
            )
        if not possible.all():
            rows = np.repeat(possible, [sequence_length(s) for s in sequences])
            sequences, labels, mask = (
                _take(sequences, possible),
                _take(labels, possible),
                mask[rows],
            )
            trellis = derive(trellis, sequences=np.flatnonzero(possible))
            gold = viterbi(trellis, allowed=mask, n_jobs=tagger.n_jobs)
        self._evidence = self._plan.evidence(sequences, trellis.offsets)
        self._trellises = {False: trellis}
        self._mask = mask
        everything = self._plan.violations(gold.tags, self._evidence)
        self.gold: IntArray = everything[:, self.rules]
        self.gold_scores: FloatArray = gold.scores - everything @ self._fixed
        self._memory = {loss: _Memory(len(sequences), len(self.rules)) for loss in (False, True)}

    @property
    def n_sequences(self) -> int:
        """Number of sentences, ``B``."""
        return len(self.gold)

    @property
    def n_rules(self) -> int:
        """Number of learned penalties, ``C``."""
        return len(self.rules)

    @property
    def _fixed(self) -> FloatArray:
        """The given finite penalties, and 0 for the other constraints."""
        given = self.all_penalties(np.zeros(self.n_rules))
        return np.where(np.isfinite(given), given, 0.0)

    def all_penalties(self, penalties: FloatArray) -> FloatArray:
        """Return the penalties of all constraints, including the learned ones."""
        found = self._plan.penalties.copy()
        found[self.rules] = penalties
        return found

    def decode(self, penalties: FloatArray, sequences: IntArray, *, loss: bool = False) -> Answers:
        """Return the best labellings of some sentences; see `LearningProblem.decode`."""
        memory = self._memory[loss]
        if not memory.is_filled:
            everyone = np.arange(self.n_sequences)
            nothing = np.zeros(self.n_rules)
            memory.keep(everyone, nothing, self._search(nothing, everyone, loss))
            memory.is_filled = True
        asked = sequences[~memory.knows(penalties, sequences)]
        if asked.size:
            memory.keep(asked, penalties, self._search(penalties, asked, loss))
        return memory.recall(penalties, sequences)

    def _search(self, penalties: FloatArray, sequences: IntArray, loss: bool) -> Answers:
        evidence = self._evidence.take(sequences)
        # Derived from the last plan, which shares its compiled products.
        self._decoder = self._decoder.with_penalties(self.all_penalties(penalties))
        found = decode_batch(
            self._decoder,
            derive(self._trellis_for(loss), sequences=sequences),
            evidence,
            on_infeasible=self._tagger.on_infeasible,
            n_jobs=self._tagger.n_jobs,
        )
        violations = self._plan.violations(found.tags, evidence)[:, self.rules]
        return Answers(violations, found.scores + violations @ penalties)

    def _trellis_for(self, loss: bool) -> Trellis:
        if loss not in self._trellises:
            free = self._trellises[False]
            self._trellises[loss] = derive(free, scores=_with_loss(free.scores, self._mask))
        return self._trellises[loss]


def rules_to_learn(tagger: PenaltyTagger) -> IntArray:
    """Return the indices of the soft constraints without a given penalty."""
    is_open = [isinstance(c, Soft) and c.penalty is None for c in tagger.plan_.constraints]
    return np.flatnonzero(is_open)


class _Memory:
    """Two known answers of each sentence: without penalties, and under the last ones."""

    def __init__(self, n_sequences: int, n_rules: int) -> None:
        self.is_filled = False
        shape = n_sequences, n_rules
        # Penalties, violations and score of each answer: row 0 without penalties, row 1 the last.
        self._penalties = np.zeros((2, *shape))
        self._violations = np.zeros((2, *shape), dtype=np.int64)
        self._scores = np.zeros((2, n_sequences))

    def keep(self, sequences: IntArray, penalties: FloatArray, answers: Answers) -> None:
        for place in (1,) if self.is_filled else (0, 1):
            self._penalties[place, sequences] = penalties
            self._violations[place, sequences] = answers.violations
            self._scores[place, sequences] = answers.scores

    def knows(self, penalties: FloatArray, sequences: IntArray) -> BoolArray:
        return np.asarray(self._certain(penalties, sequences).any(axis=0))

    def recall(self, penalties: FloatArray, sequences: IntArray) -> Answers:
        place = np.argmax(self._certain(penalties, sequences), axis=0)
        return Answers(self._violations[place, sequences], self._scores[place, sequences])

    def _certain(self, penalties: FloatArray, sequences: IntArray) -> BoolArray:
        more = penalties - self._penalties[:, sequences]
        changed = (more < 0) | ((more > 0) & (self._violations[:, sequences] > 0))
        return np.asarray(~changed.any(axis=2))


def _take(values: Sequence[Any], which: BoolArray) -> list[Any]:
    return [value for value, taken in zip(values, which.tolist(), strict=True) if taken]


def _with_loss(scores: FloatArray, mask: BoolArray) -> FloatArray:
    """Return scores plus the Hamming loss, shape ``(N, D, L)``.

    A segment of ``d + 1`` tokens that ends at ``t`` begins at ``t - d``.
    """
    found = scores.copy()
    wrong = ~mask if mask.ndim == 3 else ~np.stack([mask, mask], axis=1)  # begin, go on
    going_on = np.zeros(wrong[:, 1].shape)
    for back in range(min(found.shape[1], len(found))):
        begins = np.roll(wrong[:, 0], back, axis=0)  # wrapped entries are no segments
        found[:, back] += going_on + begins
        going_on += np.roll(wrong[:, 1], back, axis=0)
    return found
