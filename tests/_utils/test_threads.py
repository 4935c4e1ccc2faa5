from __future__ import annotations

import joblib
import pytest

from trelliswork._utils.threads import resolve_jobs


def test_default_is_every_core(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert resolve_jobs(None) == resolve_jobs(-1) == joblib.cpu_count()
    assert resolve_jobs(-joblib.cpu_count() - 5) == 1
    assert resolve_jobs(7) == 7


def test_the_usual_variable_limits_the_default(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert resolve_jobs(None) == 1
    assert resolve_jobs(2) == 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_of_joblib_share_the_cores(monkeypatch, backend):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if joblib.effective_n_jobs(2) < 2:
        pytest.skip("joblib works one by one here: the system has no semaphores")
    parallel = joblib.Parallel(n_jobs=2, backend=backend)
    inside = parallel(joblib.delayed(resolve_jobs)(None) for _ in range(2))
    assert sum(inside) <= max(2, joblib.cpu_count())


def test_zero_is_refused():
    with pytest.raises(ValueError, match="n_jobs: expected a whole number other than 0"):
        resolve_jobs(0)
