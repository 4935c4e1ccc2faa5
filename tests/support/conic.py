"""The same problems as `trelliswork.learn.sparsity.regularizer` solves, for a generic conic solver.

    minimise ½ z·P z − c·z + Ω(z),     Ω(z) = Σ_k λ_k |z_k| + Σ_levels Σ_g λ_g ‖z_g‖

Every absolute value and every norm gets a variable of its own that is not below it: an inequality,
or a second-order cone. Clarabel, an interior-point solver, knows nothing of their meaning.
It comes within 1e-10 of the minimum, or says that it does not. Where the minimum is flat, points
are less sure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import clarabel
import numpy as np
import scipy.sparse

if TYPE_CHECKING:
    from trelliswork.learn.sparsity.regularizer import Regularizer


class Minimum(NamedTuple):
    """What the solver found. If it is not exact, it is a feasible point all the same."""

    x: np.ndarray
    is_exact: bool

    def check(self, value: float, own: float, slack: float) -> None:
        """Check a value against the one here: never above, and not below either if it is exact."""
        assert value <= own + slack
        assert value >= own - slack or not self.is_exact


class Cones:
    """Rows ``A x + s = b`` with ``b = 0``, and the cones that ``s`` is in."""

    def __init__(self) -> None:
        self.rows: list[dict[int, float]] = []
        self.cones: list[object] = []

    def at_most(self, coefficients: dict[int, float]) -> None:
        """Demand that a linear function is not above 0."""
        self.rows.append(coefficients)
        self.cones.append(clarabel.NonnegativeConeT(1))

    def norm_at_most(self, members: list[int], bound: int) -> None:
        """Demand that the Euclidean norm of some variables is not above another one."""
        self.rows += [{variable: -1.0} for variable in (bound, *members)]
        self.cones.append(clarabel.SecondOrderConeT(1 + len(members)))

    def matrix(self, n_variables: int) -> scipy.sparse.csc_matrix:
        found = scipy.sparse.lil_matrix((len(self.rows), n_variables))
        for row, coefficients in enumerate(self.rows):
            for variable, value in coefficients.items():
                found[row, variable] = value
        return scipy.sparse.csc_matrix(found)


def minimum(matrix: np.ndarray, linear: np.ndarray, regularizer: Regularizer) -> Minimum:
    """Return ``argmin_z ½ z·P z − c·z + Ω(z)``."""
    size = linear.size
    costs: list[float] = []
    cones = Cones()

    def bound(cost: float) -> int:
        costs.append(cost)
        return size + len(costs) - 1

    def absolute_at_most(variable: int, top: int) -> None:
        cones.at_most({variable: 1.0, top: -1.0})
        cones.at_most({variable: -1.0, top: -1.0})

    for k in regularizer.nonnegative.tolist():
        cones.at_most({k: -1.0})
    for k, strength in enumerate(regularizer.l1.tolist()):
        if strength > 0.0:
            absolute_at_most(k, bound(strength))
    for level in regularizer.levels:
        for group, strength in enumerate(level.strengths.tolist()):
            members = np.flatnonzero(level.groups == group).tolist()
            if not members or strength == 0.0:
                continue
            top = bound(strength)
            if level.norm == "l2":
                cones.norm_at_most(members, top)
            else:
                for k in members:
                    absolute_at_most(k, top)
    n_variables = size + len(costs)
    quadratic = np.zeros((n_variables, n_variables))
    quadratic[:size, :size] = matrix
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    settings.max_step_fraction = 0.95
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(quadratic)),
        np.concatenate([-linear, costs]),
        cones.matrix(n_variables),
        np.zeros(len(cones.rows)),
        cones.cones,
        settings,
    )
    found = solver.solve()
    assert str(found.status) in ("Solved", "AlmostSolved", "InsufficientProgress"), found.status
    x = np.array(found.x)[:size]
    bounded = regularizer.nonnegative
    x[bounded] = np.maximum(x[bounded], 0.0)
    return Minimum(x, str(found.status) == "Solved")


def proximal_point(v: np.ndarray, regularizer: Regularizer) -> Minimum:
    """Return ``argmin_z ½ ‖z − v‖² + Ω(z)``."""
    return minimum(np.eye(v.size), v, regularizer)
