"""Number of threads of a call."""

from __future__ import annotations

import os
from functools import cache
from numbers import Integral

__all__ = ["check_jobs", "resolve_jobs"]


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for scikit-learn's `n_jobs`.

    ``None`` means one thread a core; inside a joblib worker, the worker's share of the cores, so
    that a grid search over processes does not start cores × cores threads. ``-1`` is the same,
    ``-2`` one less.
    """
    check_jobs(n_jobs)
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    # Imported late: it takes 0.1 s and is not needed if n_jobs is given.
    from joblib.parallel import get_active_backend

    cores = _available_cores()
    # joblib passes worker processes their share of the cores in this variable. Worker threads get
    # no such share; there are as many of them as cores already.
    share = os.environ.get("OMP_NUM_THREADS", "")
    if share.isdecimal() and int(share) > 0:
        cores = min(cores, int(share))
    elif get_active_backend()[0].nesting_level:
        cores = 1
    return max(1, cores + 1 + (-1 if n_jobs is None else n_jobs))


def check_jobs(n_jobs: int | None) -> None:
    """Raise a `ValueError` if `resolve_jobs` does not accept `n_jobs`."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs: expected a whole number other than 0, or None, got {n_jobs!r}.")


@cache
def _available_cores() -> int:
    import joblib

    # Reads the affinity mask and the container's limits: a tenth of a millisecond.
    return int(joblib.cpu_count())
