"""A link between a service and its database that can be cut, stalled and made slow."""

import socket
import threading
import time
from contextlib import suppress


class FaultProxy:
    """Passes bytes on between who connects here and one address, as long as it is told to.

    Attributes
    ----------
    port : int
        Where it listens, on the loopback address.
    seconds : float
        How long each piece is held back.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.seconds = 0.0
        self._flows = threading.Event()
        self._flows.set()
        self._is_cut = False
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        """Pass nothing on any more, while the system of this machine goes on to acknowledge what is sent."""
        self._flows.clear()

    def cut(self) -> None:
        """Close every connection, and each new one at once."""
        self._is_cut = True
        self._close()

    def mend(self) -> None:
        """Pass everything on again."""
        self._is_cut = False
        self.seconds = 0.0
        self._flows.set()

    def lead_to(self, host: str, port: int) -> None:
        """Connect whoever comes from now on with another address."""
        self._target = (host, port)

    def close(self) -> None:
        """End it."""
        self._listener.close()
        self._close()
        self._flows.set()

    def _close(self) -> None:
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._is_cut:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(self._target)
                except OSError:  # nobody is there just now
                    near.close()
                    continue
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while piece := source.recv(65536):
                self._flows.wait()
                time.sleep(self.seconds)
                target.sendall(piece)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
