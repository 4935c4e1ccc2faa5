"""How many threads a call may use."""

from __future__ import annotations

import os
from functools import cache
from numbers import Integral

__all__ = ["check_jobs", "resolve_jobs"]


def resolve_jobs(n_jobs: int | None) -> int:
    """Turn scikit-learn's `n_jobs` into a number of threads.

    ``None`` means one thread a core, and inside a joblib worker what joblib leaves to it: a grid
    search over processes does not start cores × cores threads. ``-1`` is the same, ``-2`` one less.
    """
    check_jobs(n_jobs)
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    # A tenth of a second, which whoever says how many threads there are need not wait for.
    from joblib.parallel import get_active_backend

    cores = _available_cores()
    # joblib tells its worker processes their share of the cores through this variable; its worker
    # threads it tells nothing, and they are as many as the cores already.
    share = os.environ.get("OMP_NUM_THREADS", "")
    if share.isdecimal() and int(share) > 0:
        cores = min(cores, int(share))
    elif get_active_backend()[0].nesting_level:
        cores = 1
    return max(1, cores + 1 + (-1 if n_jobs is None else n_jobs))


def check_jobs(n_jobs: int | None) -> None:
    """Raise where `n_jobs` is none of the numbers that `resolve_jobs` takes."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs: expected a whole number other than 0, or None, got {n_jobs!r}.")


@cache
def _available_cores() -> int:
    import joblib

    # Reads the affinity mask and the container's limits: a tenth of a millisecond.
    return int(joblib.cpu_count())
