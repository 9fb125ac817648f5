"""The head of an answer and its body as one write: two would be two packets, and twice the kernel's work."""

import asyncio
from typing import Any, Final

#: Larger bodies are written by themselves: to copy them takes longer than to write twice.
_COPIED_BYTES: Final = 1 << 16


class OneWrite:
    """
    A transport that writes at once what is written within one turn of the event loop.

    Parameters
    ----------
    transport : asyncio.Transport
        What it writes to; all else that is asked of it is asked of this.
    loop : asyncio.AbstractEventLoop
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write after what is held; what comes alone is held until the loop's next turn."""
        held, self._held = self._held, b""
        if not held:
            if len(data) <= _COPIED_BYTES:
                self._held = data
                self._loop.call_soon(self._flush)
                return
        elif len(data) <= _COPIED_BYTES:
            data = held + data
        else:
            self._transport.write(held)
        self._transport.write(data)

    def close(self) -> None:
        """Close after what was written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        held, self._held = self._held, b""
        if held and not self._transport.is_closing():
            self._transport.write(held)
