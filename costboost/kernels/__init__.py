"""Compiled loops over arrays, and when they are worth loading."""

import sys
from functools import cache

__all__ = ["pay_for"]

#: Rows for which the compiler is loaded: fewer are done in Python and numpy before it is there.
_FEW = 512


def pay_for(n: int) -> bool:
    """Whether n rows, or values, are better done by compiled code; both ways give the same bits.

    Loading the compiler takes a third of a second and 70 MB, which a process that scores a row now and then
    never needs. Where it is loaded anyway, more than one row is enough.
    """
    if "numba" in sys.modules:
        return n > 1
    return n > _FEW and _is_installed()


@cache
def _is_installed() -> bool:
    try:
        import numba  # noqa: F401, PLC0415 - loads the compiler
    except ImportError:
        return False
    return True
