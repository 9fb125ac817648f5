"""The API process: checks address and schema, serves, and keeps a worker process beside it."""

import asyncio
import ctypes
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any

import structlog
import uvicorn
from fastapi import FastAPI
from pydantic import SecretStr

from service import logs
from service.api.app import create_app
from service.api.deadlines import DeadlineProtocol
from service.explaining import explained
from service.settings import PREFIX, Settings, SettingsError, load_settings
from service.ui.app import install
from service.usecases.api_keys import has_key
from service.usecases.datasets import PRELOAD
from service.wiring import ensure_schema, wire
from service.workers.keeper import WorkerKeeper

log = structlog.get_logger("service.main")

#: Seconds after which a thread that computes lets others go on: a row alone waits less behind a batch.
_SWITCH_SECONDS = 0.0005

# From <malloc.h>, and bytes: what lies free at the end of a heap, and blocks that get a mapping of their own.
_M_TRIM_THRESHOLD, _KEPT_BYTES = -1, 64 << 20
_M_MMAP_THRESHOLD, _MAPPED_BYTES = -3, 32 << 20
_MAX_FILES = 65_536


def serve(settings: Settings, *, with_worker: bool = True) -> None:
    """
    Serve until SIGTERM or SIGINT; requests under way are finished first.

    Raises
    ------
    SettingsError
        The port is taken.
    SchemaError
        PostgreSQL has not the schema of this release; a file of SQLite is given it.
    """
    require_free_port(settings.host, settings.port)
    sys.setswitchinterval(_SWITCH_SECONDS)
    keep_memory()
    allow_connections()
    logs.configure(settings.log_level)
    wiring = wire(settings, PRELOAD)
    ensure_schema(wiring)
    if settings.needs_keys and not has_key(wiring.readers):
        log.warning("there is no API key yet; make one: costboost keys create --tenant NAME --scopes admin")
    app = install(create_app(wiring))
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        http=DeadlineProtocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.stop_seconds),
    )
    # uvicorn raises the signal again when it has stopped; an orderly end shall be a normal exit.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    with kept_worker(settings) if with_worker else nullcontext():
        _Server(config, app).run()
    wiring.close()


class _Server(uvicorn.Server):
    """Says where it listens, which port 0 leaves open, and tells those who wait for a job when it ends."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: streams and long polls end themselves, other requests are finished."""
        self._app.state.stopping = True
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop listening; whom the kernel has let in already would be cut off, and is taken in first."""
        loop = asyncio.get_running_loop()
        # A second descriptor keeps the queue of a socket that is closed.
        queues = [socket.socket(fileno=os.dup(one.fileno())) for each in self.servers for one in each.sockets]
        for server in self.servers:
            server.close()
        for queue in queues:
            with queue, suppress(BlockingIOError):
                queue.setblocking(False)
                while True:
                    accepted, _ = queue.accept()
                    await loop.connect_accepted_socket(self._protocol, accepted)
        await super().shutdown(sockets)

    def _protocol(self) -> asyncio.Protocol:
        """Serve a connection, as those are that uvicorn accepts."""
        return DeadlineProtocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    async def startup(self, sockets: Any = None) -> None:
        """Open the sockets; what is there by now stays, so that the collector need not look at it again."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                log.info("listening", url=f"http://{host}:{port}")


@contextmanager
def kept_worker(settings: Settings) -> Iterator[None]:
    """Keep a worker process beside this one; it is asked to stop at the end."""
    command = (sys.executable, "-m", "service.worker", "--parent", str(os.getpid()))
    keeper = WorkerKeeper(environment(settings), command=command)
    keeper.start()
    try:
        yield
    finally:
        keeper.stop()


def keep_memory() -> None:
    """Have the C library keep what a request frees: to ask the kernel for it anew, page by page, is dear.

    Of a batch of ten thousand rows it takes a quarter of the time. Not every C library has these knobs.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)


def allow_connections() -> None:
    """Have as many files as this process may, up to `_MAX_FILES`: each connection is one, silent ones too."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def require_free_port(host: str, port: int) -> None:
    """Refuse a port that is taken before anything is started."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(
                f"{PREFIX}PORT: {port} on {host} cannot be listened on ({error.strerror}); "
                "choose another with --port, or --port 0 for a free one"
            ) from error


def environment(settings: Settings) -> dict[str, str]:
    """Write settings as variables, to hand them on to another process, those of the command line too."""
    return {
        PREFIX + name.upper(): value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        for name, value in settings
    }


if __name__ == "__main__":
    with explained():
        serve(load_settings(), with_worker=False)
