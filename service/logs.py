"""Logs as JSON lines on standard error: ids and figures, never a value of a row."""

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import msgspec
import structlog


def configure(level: str) -> None:
    """
    Send all logging of the process, that of libraries too, to standard error, one JSON object a line.

    Parameters
    ----------
    level : str
        "debug", "info", "warning" or "error".
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_encode),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    _Lines.are_written = number <= logging.INFO
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    # Libraries say much at "info"; from them only what an operator must know is kept.
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[handler], force=True)


class _Lines:
    """Whether lines of level "info" are written; not before logging is configured."""

    are_written = False


def write_line(event: str, fields: dict[str, Any]) -> None:
    """
    Write a line of level "info": what is said of each request, for which structlog takes three times as long.

    Parameters
    ----------
    fields : dict
        Ids and figures, in the order of the line.
    """
    if _Lines.are_written:
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        line = msgspec.json.encode({**fields, "event": event, "level": "info", "timestamp": now})
        sys.stderr.buffer.write(line + b"\n")
        sys.stderr.buffer.flush()


def request_id() -> str | None:
    """Give the id of the request that this is done for, as its log lines have it."""
    bound: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return bound


def _encode(event: dict[str, Any], default: Callable[[Any], Any]) -> bytes:
    return msgspec.json.encode(event, enc_hook=default)


class JsonFormatter(logging.Formatter):
    """Writes a record of the standard library like one of ours."""

    def format(self, record: logging.LogRecord) -> str:
        """Give one line; of an exception its kind and place, for its text may hold data."""
        line: dict[str, object] = {
            "event": record.getMessage(),
            "logger": record.name,
            "level": record.levelname.lower(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line |= {"error": record.exc_info[0].__name__, "frames": frames(record.exc_info[2])}
        return json.dumps(line)


def frames(trace: TracebackType | None) -> list[str]:
    """List where an exception came through, outermost first."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
