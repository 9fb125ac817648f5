"""A service of one's own: started on a free port with data in a temporary folder, and stopped again."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

START_SECONDS = 60.0
STOP_SECONDS = 15.0
LOG_LINES = 15


class ServiceError(Exception):
    """The service did not start; the message ends with the last lines of its log."""


@contextmanager
def running_service() -> Iterator[str]:
    """Start `costboost serve` and yield its URL; leaves no process and no file, however the block ends."""
    with TemporaryDirectory(prefix="costboost-demo-") as folder:
        url = f"http://127.0.0.1:{_free_port()}"
        log = Path(folder, "log")
        process = _start(url, Path(folder, "data"), log)
        try:
            _wait_until_ready(process, url, log)
            yield url
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _start(url: str, data: Path, log: Path) -> subprocess.Popen[bytes]:
    # Settings of whoever runs the demo must not lead it to their database.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COSTBOOST_")}
    command = [
        str(Path(sys.executable).with_name("costboost")),
        "serve",
        f"--port={url.rpartition(':')[2]}",
        f"--data-dir={data}",
    ]
    with log.open("wb") as output:
        # A session of its own: Ctrl-C reaches the demo alone, which then stops the service in order.
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServiceError(f"the service ended with status {process.returncode}\n{_tail(log)}")
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=2.0):
                return
        except OSError:
            time.sleep(0.1)
    raise ServiceError(f"the service was not ready after {START_SECONDS:.0f} s\n{_tail(log)}")


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
