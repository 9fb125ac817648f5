"""Where the folds and the trials of one job are fitted: in threads of its child, or on a Dask cluster."""

import ipaddress
import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from types import FrameType
from typing import Any, Final

from service.domain.errors import UnavailableError

PATTERN: Final = r"^(local|dask(\+tls)?://(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):[0-9]{1,5})$"
#: How long a scheduler, and then its first worker, is waited for, in seconds.
CONNECT_SECONDS: Final = 10.0
#: How often the scheduler is looked after while it works, in seconds.
LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Compute:
    """What is told to the child of a job, as plain JSON values.

    Attributes
    ----------
    url : str
        `local`, `dask://host:port` or `dask+tls://host:port`.
    n_jobs : int
        Folds or trials fitted at a time on this machine.
    ca_file, cert_file, key_file : str
        PEM files for TLS: whom to believe, and who we are.
    """

    url: str = "local"
    n_jobs: int = 1
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""


def at_once(slots: int) -> int:
    """Fits of one job at a time, so that all slots together use every core once."""
    return max(1, (os.cpu_count() or 1) // slots)


def refusal(url: str, trusted: str, files: Mapping[str, str]) -> str | None:
    """
    Say why work may not be sent to an address, or nothing.

    Whoever reaches the port of a scheduler can run programs on its workers, and reads rows on the way.

    Parameters
    ----------
    url : str
        That matches `PATTERN`.
    trusted : str
        Host names and private networks, by comma, that are reached without TLS.
    files : mapping of str to str
        Name of a setting to the file it names; "" for none.
    """
    if url == "local":
        return None
    if find_spec("distributed") is None:
        return "needs Dask: `pip install '.[dask]'` in the checkout; the image has it"
    if url.startswith("dask+tls:"):
        missing = [name for name, path in files.items() if not os.path.isfile(path)]
        return f"dask+tls:// needs a file in {' and '.join(missing)}" if missing else None
    host = _host(url)
    if _is_trusted(host, [one.strip() for one in trusted.split(",") if one.strip()]):
        return None
    return (
        f"dask:// sends rows and programs unprotected to {host}: use dask+tls://, or name the host or its "
        "private network in COSTBOOST_COMPUTE_TRUSTED"
    )


def check_trusted(trusted: str) -> None:
    """Refuse networks that are not private.

    Raises
    ------
    ValueError
        It says which.
    """
    for one in filter(None, (one.strip() for one in trusted.split(","))):
        if "/" in one and not ipaddress.ip_network(one).is_private:
            raise ValueError(f"{one} is no private network")


@contextmanager
def spread(compute: Compute) -> Iterator[None]:
    """Fit the folds and trials of what is done within at these places; it changes no number.

    Raises
    ------
    UnavailableError
        The scheduler cannot be reached, has no worker, or is lost: `compute_unavailable`.
    """
    from joblib import parallel_config  # noqa: PLC0415  the API knows settings, and computes nothing

    if compute.url == "local":
        # Threads, for kernels leave the interpreter to others. They share the rows, count to the limits of
        # the child and end with it; processes of a pool live on when it dies alone, and load everything anew.
        with parallel_config(backend="threading", n_jobs=compute.n_jobs):
            yield
        return
    with connected(compute) as client, parallel_config(backend="dask", client=client):
        yield


@contextmanager
def connected(compute: Compute, *, direct: bool = False) -> Iterator[Any]:
    """Yield a client of a Dask cluster, in the main thread of a process.

    Parameters
    ----------
    direct : bool
        Whether it speaks to workers itself, and not through the scheduler.

    Raises
    ------
    UnavailableError
        As from `spread`.
    """
    from distributed import Client, Security  # noqa: PLC0415  who has no cluster needs none of it
    from distributed.comm import CommClosedError  # noqa: PLC0415

    scheme, address = compute.url.split("://")
    security = None
    if scheme == "dask+tls":
        security = Security(
            tls_ca_file=compute.ca_file,
            tls_client_cert=compute.cert_file,
            tls_client_key=compute.key_file,
            require_encryption=True,
        )
    try:
        client = Client(
            f"{'tls' if security else 'tcp'}://{address}",
            security=security,
            timeout=CONNECT_SECONDS,
            set_as_default=False,
            direct_to_workers=direct or None,
        )
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except OSError as error:
        raise _lost() from error
    # It is not closed: the child ends sooner than a client says good-bye, and the scheduler sees it gone.
    try:
        with _watched(client):
            yield client
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise _lost() from error


@contextmanager
def _watched(client: Any) -> Iterator[None]:
    """Interrupt what is done within when the scheduler is gone: joblib would wait for it for ever."""
    over, connection = threading.Event(), client.scheduler_comm

    def raise_lost(_number: int, _frame: FrameType | None) -> None:
        raise _lost()

    def watch() -> None:
        while not over.wait(LOOK_SECONDS):
            # A client connects again by itself; what it had asked for is forgotten all the same.
            if connection.closed() or client.scheduler_comm is not connection:
                os.kill(os.getpid(), signal.SIGUSR1)
                return

    before = signal.signal(signal.SIGUSR1, raise_lost)
    threading.Thread(target=watch, name="scheduler-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.signal(signal.SIGUSR1, before)


def _lost() -> UnavailableError:
    return UnavailableError("compute_unavailable", "the cluster that fits folds cannot be reached just now")


def _host(url: str) -> str:
    return re.sub(r"^.*://|:[0-9]+$", "", url).strip("[]")


def _is_trusted(host: str, trusted: list[str]) -> bool:
    if host == "localhost" or host in trusted:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or any(address in ipaddress.ip_network(one) for one in trusted if "/" in one)
