"""Folds and trials fitted in threads or on a Dask cluster: the same bytes, whoever dies meanwhile."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.compute import Compute, at_once
from service.domain.errors import UnavailableError
from service.processes.guard import Ending, Guard, Outcome
from service.processes.nursery import Nursery
from service.settings import SettingsError, load_settings
from tests.dask_cluster import Cluster

MAKE_SECRETS = Path(__file__).parents[2] / "deploy" / "make_secrets.py"
LIMITS = Guard(seconds=240, memory_bytes=2 << 30)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    with Nursery(["service.workers.child:prepare", "fit_targets"], {"PYTHONPATH": path}) as one:
        yield one


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that speaks TLS, with the certificate that a deployment makes."""
    (tmp_path / "tls").mkdir()
    command = [sys.executable, MAKE_SECRETS, tmp_path, tmp_path / "tls"]
    subprocess.run(command, check=True, timeout=60)
    certificate, key = tls_files(tmp_path)
    one = Cluster(tmp_path, [f"--tls-ca-file={certificate}", f"--tls-cert={certificate}", f"--tls-key={key}"])
    yield one
    one.close()


def tls_files(folder: Path) -> tuple[str, str]:
    return str(folder / "tls" / "certificate.pem"), str(folder / "tls" / "key.pem")


def compute_of(cluster: Cluster) -> Compute:
    certificate, key = tls_files(cluster.folder)
    address = cluster.address.replace("tls://", "dask+tls://")
    return Compute(address, ca_file=certificate, cert_file=certificate, key_file=key)


class Once:
    """Hears messages, and does something at the first."""

    def __init__(self, do: Callable[[], object]) -> None:
        self.do, self.done = do, False

    def __call__(self, _message: object) -> None:
        if not self.done:
            self.done = True
            self.do()


def fitted(nursery: Nursery, compute: Compute, on_message: Any = None) -> Outcome:
    return nursery.run_guarded("fit_targets:fit_at", vars(compute), LIMITS, on_message)


@pytest.fixture(scope="module")
def alone(nursery: Nursery) -> Any:
    """What a fit leaves that does one thing after the other."""
    return fitted(nursery, Compute()).value


def decided(nursery: Nursery, compute: Compute, on_message: Any = None) -> Any:
    """What parts of a batch prediction say, and what is wrong with a faulty one."""
    pause = {} if on_message is None else {"pause_at": 8}
    outcome = nursery.run_guarded("fit_targets:predict_at", vars(compute) | pause, LIMITS, on_message)
    assert outcome.ending is Ending.FINISHED, outcome
    return outcome.value


def trained(nursery: Nursery, compute: Compute, folder: Path) -> Any:
    """The digest of a model that is trained on a folder of files."""
    payload = vars(compute) | {"folder": str(folder)}
    return nursery.run_guarded("fit_targets:train_folder_at", payload, LIMITS).value


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_byte(nursery: Nursery, alone: Any, n_jobs: int) -> None:
    assert alone is not None
    assert fitted(nursery, Compute(n_jobs=n_jobs)).value == alone


def test_a_cluster_changes_no_byte_and_a_lost_scheduler_costs_an_attempt(
    nursery: Nursery, alone: Any, cluster: Cluster
) -> None:
    cluster.scale(1)
    assert fitted(nursery, compute_of(cluster)).value == alone
    here = decided(nursery, Compute())
    assert here["error"] is not None
    assert decided(nursery, Compute(n_jobs=2)) == decided(nursery, compute_of(cluster)) == here
    folder = cluster.folder / "rows"
    folder.mkdir()
    for seed in range(2):
        numbers = np.random.default_rng(seed).normal(size=300)
        labels = np.where(numbers > 0.8, "fraud", "legit")
        pq.write_table(pa.table({"number": numbers, "label": labels}), folder / f"{seed}.parquet")
    there, both = trained(nursery, compute_of(cluster), folder), trained(nursery, Compute(n_jobs=2), folder)
    assert there is not None
    assert there == both
    outcome = fitted(nursery, compute_of(cluster), lambda _message: cluster.scheduler.kill())
    assert outcome.ending is Ending.RAISED, outcome
    assert isinstance(outcome.error, UnavailableError), outcome
    assert outcome.error.code == "compute_unavailable"


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_workers_makes_the_same_bytes_though_one_dies(
    nursery: Nursery, alone: Any, cluster: Cluster, count: int
) -> None:
    cluster.scale(count)
    assert fitted(nursery, compute_of(cluster)).value == alone
    assert fitted(nursery, compute_of(cluster), Once(cluster.replace_worker)).value == alone
    assert decided(nursery, compute_of(cluster), Once(cluster.replace_worker)) == decided(nursery, Compute())


@pytest.mark.slow
def test_a_cluster_without_workers_is_an_outage(nursery: Nursery, cluster: Cluster) -> None:
    outcome = fitted(nursery, compute_of(cluster))
    assert isinstance(outcome.error, UnavailableError), outcome


def test_all_slots_together_use_each_core_once() -> None:
    cores = os.cpu_count() or 1
    assert at_once(1) == cores
    assert all(slots * at_once(slots) <= max(cores, slots) for slots in range(1, 9))


@pytest.mark.parametrize(
    ("url", "trusted"),
    [
        ("local", ""),
        ("dask://127.0.0.1:8786", ""),
        ("dask://localhost:8786", ""),
        ("dask://[::1]:8786", ""),
        ("dask://10.1.2.3:8786", "other, 10.1.0.0/16"),
        ("dask://dask-scheduler:8786", "dask-scheduler"),
    ],
)
def test_addresses_that_are_taken(url: str, trusted: str) -> None:
    given = {"COSTBOOST_COMPUTE": url, "COSTBOOST_COMPUTE_TRUSTED": trusted}
    assert load_settings(given).compute == url


@pytest.mark.parametrize(
    ("url", "trusted", "fault"),
    [
        ("dask://10.1.2.3:8786", "", "COMPUTE: .*use dask.tls"),
        ("dask://10.2.2.3:8786", "10.1.0.0/16", "COMPUTE: .*use dask.tls"),
        ("dask://dask-scheduler:8786", "scheduler", "COMPUTE: .*use dask.tls"),
        ("dask://93.184.216.34:8786", "93.184.0.0/16", "COMPUTE_TRUSTED: .*no private network"),
        ("dask://10.1.2.3:8786", "10.1.2.3/8", "COMPUTE_TRUSTED: "),
        ("dask+tls://cluster:8786", "", "COMPUTE: .*CA_FILE and COSTBOOST_COMPUTE_CERT_FILE and"),
        ("dask://user@host:8786", "", "COMPUTE: "),
        ("dask://host", "", "COMPUTE: "),
        ("ray://host:1", "", "COMPUTE: "),
    ],
)
def test_addresses_that_stop_the_start(url: str, trusted: str, fault: str) -> None:
    with pytest.raises(SettingsError, match=f"COSTBOOST_{fault}"):
        load_settings({"COSTBOOST_COMPUTE": url, "COSTBOOST_COMPUTE_TRUSTED": trusted})
