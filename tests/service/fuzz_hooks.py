"""What schemathesis must be told; it is also loaded by its command, see `long_fuzz.py`."""

from typing import Any

import schemathesis


@schemathesis.serializer("application/zip")
def as_it_is(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """No archive is drawn, only bytes that are none."""
    return value if isinstance(value, bytes) else str(value).encode()
