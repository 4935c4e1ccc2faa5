"""`CRF`, the layer: a drop-in for ``torchcrf.CRF`` whose labellings may obey a language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor, nn

from trelliswork import inference
from trelliswork.torch import kernels, tensor as tensor_path
from trelliswork.torch.batch import PaddedBatch
from trelliswork.torch.checks import (
    IGNORED_TAG,
    check_feasible,
    check_num_tags,
    check_shapes,
    check_tag_ids,
)
from trelliswork.torch.lattice import language_lattice
from trelliswork.torch.ragged import Ragged
from trelliswork.torch.rules import as_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trelliswork.labels.label_set import LabelSet
    from trelliswork.torch.rules import Rule, Rules

__all__ = ["CRF", "Backend", "Reduction"]

Backend = Literal["auto", "core", "tensor"]
Reduction = Literal["none", "sum", "mean", "token_mean"]


class CRF(nn.Module):
    """Conditional random field over tag sequences, as the last layer of a network.

    The score of tags ``y`` on emissions ``φ`` is

        score(y) = start[y_1] + Σ_t φ[t, y_t] + Σ_t transitions[y_{t-1}, y_t] + end[y_T]

    and ``p(y) = exp(score(y)) / Z``, where ``Z`` sums over all tag sequences, or over those of a
    language. Signatures, parameters and initialisation are those of ``torchcrf.CRF`` (pytorch-crf),
    whose ``state_dict`` loads.

    Emissions are ``(T, B, K)``, or ``(B, T, K)`` with `batch_first`, in any floating dtype; sums
    run in double precision. A token that `mask` leaves out is skipped wherever it stands, and the
    sequence is what remains.

    Parameters
    ----------
    num_tags
        ``K``, the number of tags.
    batch_first
        Whether the batch is the first axis of emissions, tags and masks.
    labels
        Names of the tags, in the order of their ids; a `LabelSet` also defines segments.
        Default: ``"0"``, ``"1"``, … .
    language
        The tag sequences that are possible: a regular expression over label names, an automaton,
        or a constraint. Loss, marginals, decoding and samples all obey it. Default: all.
    constraints
        One or several of these that must hold beside `language`.
    backend
        ``"core"`` runs the C++ kernel, ``"tensor"`` the same recursion in torch operations;
        ``"auto"`` takes the second for CUDA tensors. Decoding, k-best and sampling always run in
        the core.

    Attributes
    ----------
    start_transitions, end_transitions, transitions : torch.nn.Parameter
        Shapes ``(K,)``, ``(K,)`` and ``(K, K)``, rows = tag before.

    Examples
    --------
    >>> import torch
    >>> crf = CRF(3, batch_first=True, labels=["O", "B", "I"], language="(O | B I*)*")
    >>> crf.decode(torch.tensor([[[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]]))
    [[1, 2]]
    """

    def __init__(
        self,
        num_tags: int,
        batch_first: bool = False,
        *,
        labels: Sequence[str] | LabelSet | None = None,
        language: Rule | None = None,
        constraints: Rules | None = None,
        backend: Backend = "auto",
    ) -> None:
        num_tags = check_num_tags(num_tags)
        if backend not in get_args(Backend):
            raise ValueError(f"backend: expected one of {get_args(Backend)}, got {backend!r}.")
        super().__init__()
        self.num_tags = num_tags
        self.batch_first = batch_first
        self.backend = backend
        self.lattice = language_lattice(num_tags, labels, as_rules(language, constraints))
        self.start_transitions = nn.Parameter(torch.empty(num_tags))
        self.end_transitions = nn.Parameter(torch.empty(num_tags))
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters uniformly from [−0.1, 0.1]."""
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -0.1, 0.1)

    def __repr__(self) -> str:
        language = self.lattice.language
        size = "" if language is None else f", language of {language.n_states} states"
        return f"{type(self).__name__}(num_tags={self.num_tags}{size})"

    def forward(
        self,
        emissions: Tensor,
        tags: Tensor,
        mask: Tensor | None = None,
        reduction: Reduction = "sum",
    ) -> Tensor:
        """Return the log-likelihood ``log p(tags)`` (the loss is its negative).

        Parameters
        ----------
        emissions
            ``φ``, shape ``(T, B, K)`` or ``(B, T, K)``.
        tags
            Tag ids, the first two axes of `emissions`. A token whose tag is −100 is left out of
            its sequence, as one that is masked; a sequence that has no other token counts 0.
        mask
            True at the tokens, the shape of `tags`. Default: everywhere.
        reduction
            ``"sum"`` and ``"mean"`` over the batch, ``"token_mean"`` over the tokens that count,
            ``"none"``: one value a sequence.

        Returns
        -------
        Tensor
            A scalar, or shape ``(B,)``.

        Raises
        ------
        NotInLanguageError
            The tags of a sequence are not in the language.
        InfeasibleError
            No tag sequence of that length is.
        """
        self._check(emissions, tags, mask)
        check_tag_ids(tags)
        if reduction not in get_args(Reduction):
            raise ValueError(f"invalid reduction: {reduction}")
        value = self._value(emissions, tags, mask)
        dtype = torch.promote_types(emissions.dtype, self.transitions.dtype)
        if reduction == "none":
            return value.to(dtype)
        if reduction == "mean":
            return value.mean().to(dtype)
        if reduction == "sum":
            return value.sum().to(dtype)
        counted = tags.to(value.device) != IGNORED_TAG
        if mask is not None:
            counted = counted & mask.to(value.device, torch.bool)
        return (value.sum() / counted.sum()).to(dtype)

    def log_partition(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return ``log Z`` of every sequence, shape ``(B,)``, differentiable."""
        self._check(emissions, None, mask)
        dtype = torch.promote_types(emissions.dtype, self.transitions.dtype)
        return self._value(emissions, None, mask).to(dtype)

    def marginals(self, emissions: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return ``P(y_t = y)``, the shape of `emissions`; 0 where a token is masked.

        It is the derivative of ``log Z``, and can be differentiated in turn.
        """
        self._check(emissions, None, mask)
        differentiable = torch.is_grad_enabled() and (
            emissions.requires_grad or any(p.requires_grad for p in self.parameters())
        )
        with torch.inference_mode(False), torch.enable_grad():
            emissions, mask = _trackable(emissions), None if mask is None else _trackable(mask)
            phi = emissions if emissions.requires_grad else emissions.detach().requires_grad_()
            log_z = self._value(phi, None, mask).sum()
            (found,) = torch.autograd.grad(log_z, phi, create_graph=differentiable)
        return found

    def decode(self, emissions: Tensor, mask: Tensor | None = None) -> list[list[int]]:
        """Return the best tags of every sequence, one for each token that `mask` keeps."""
        ragged = self._ragged(emissions, mask)
        return ragged.split(ragged.decode())

    def kbest(
        self, emissions: Tensor, k: int, mask: Tensor | None = None
    ) -> list[list[tuple[list[int], float]]]:
        """Return the `k` best tag sequences of every sequence with their scores, best first.

        There are fewer where a sequence has no `k` labellings.
        """
        ragged = self._ragged(emissions, mask)
        best = inference.kbest(ragged.trellis, k, n_jobs=ragged.n_jobs)
        check_feasible(self.lattice, best.scores[:, 0], ragged.lengths)
        by_rank = [ragged.split(labels) for labels in best.labels]
        return [
            [
                (by_rank[rank][index], score)
                for rank, score in enumerate(scores)
                if score > -torch.inf
            ]
            for index, scores in enumerate(best.scores.tolist())
        ]

    def sample(
        self,
        emissions: Tensor,
        n: int = 1,
        mask: Tensor | None = None,
        *,
        generator: torch.Generator | None = None,
        seed: int | None = None,
    ) -> list[list[list[int]]]:
        """Draw `n` tag sequences of every sequence from ``p(y)``.

        Parameters
        ----------
        emissions, mask
            As in :meth:`forward`.
        n
            Number of samples.
        generator, seed
            Source of randomness; at most one of them. Default: torch's own generator,
            which ``torch.manual_seed`` sets.

        Returns
        -------
        list
            ``[b][i]``: sample ``i`` of sequence ``b``.
        """
        if generator is not None and seed is not None:
            raise ValueError("sample: expected a generator or a seed, got both.")
        ragged = self._ragged(emissions, mask)
        if seed is None:
            device = None if generator is None else generator.device
            seed = int(torch.randint(2**62, (), generator=generator, device=device))
        log_z = inference.log_partition(ragged.trellis, n_jobs=ragged.n_jobs)
        check_feasible(self.lattice, log_z, ragged.lengths)
        labels, _ = inference.sample(ragged.trellis, n, random_state=seed, n_jobs=ragged.n_jobs)
        draws = [ragged.split(draw) for draw in labels]
        return [[draw[b] for draw in draws] for b in range(ragged.trellis.n_sequences)]

    def _check(self, emissions: Tensor, tags: Tensor | None, mask: Tensor | None) -> None:
        check_shapes(emissions, tags, mask, n_tags=self.num_tags, batch_first=self.batch_first)

    def _value(self, emissions: Tensor, tags: Tensor | None, mask: Tensor | None) -> Tensor:
        """Return ``log p(tags)`` or ``log Z``, float64, shape ``(B,)``, from the right backend."""
        in_tensors = self.backend == "tensor" or (self.backend == "auto" and emissions.is_cuda)
        device = emissions.device if in_tensors else torch.device("cpu")
        batch = PaddedBatch(
            emissions.to(device, torch.promote_types(emissions.dtype, torch.float32)),
            None if tags is None else tags.to(device, torch.int64),
            None if mask is None else mask.to(device, torch.bool),
            self.start_transitions.to(device),
            self.end_transitions.to(device),
            self.transitions.to(device),
            self.batch_first,
        )
        if in_tensors:
            return tensor_path.log_likelihood(batch, self.lattice)
        return kernels.log_likelihood(batch, self.lattice).to(emissions.device)

    def _ragged(self, emissions: Tensor, mask: Tensor | None) -> Ragged:
        self._check(emissions, None, mask)
        parameters = (self.start_transitions, self.end_transitions, self.transitions)
        return Ragged(emissions, mask, *parameters, self.lattice, self.batch_first)


def _trackable(tensor: Tensor) -> Tensor:
    """Return a tensor that autograd can save, also of one made in inference mode."""
    return tensor.clone() if tensor.is_inference() else tensor
