"""Headers as they came: what is looked up for every request is found without wrapping them first."""

from starlette.types import Scope


def header(scope: Scope, name: bytes) -> str | None:
    """Give the first header of this name, which is in lower case; None without one."""
    for given, value in scope["headers"]:
        if given == name:
            return str(value, "latin-1")
    return None


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """Give all headers of this name."""
    return [str(value, "latin-1") for given, value in scope["headers"] if given == name]
