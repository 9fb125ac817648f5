"""The one place where compilation flags are chosen."""

import os
from collections.abc import Callable
from typing import ParamSpec, TypeVar

# Intel's vector library, where it is installed, would replace exp and log inside loops by versions whose
# last bit differs from libm's; a row scored alone would then differ from the same row in a batch.
os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")

import numba

__all__ = ["kernel"]

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays on first use and keep the machine code on disk.

    Serial and without the interpreter lock: threads of the caller may run kernels side by side, and a fork
    after a fit still works. No ``fastmath``: NaN means missing, and sums must not be reordered.
    """
    compiled: Callable[P, R] = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return compiled
