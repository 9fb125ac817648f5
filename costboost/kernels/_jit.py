"""The one place where compilation flags are chosen, and where machine code is kept.

Kernels are compiled on first use, which takes seconds, and kept in a folder: the one that NUMBA_CACHE_DIR
names, else `__pycache__` beside them where it can be written or is full already, else the user's own cache.
A folder that cannot be written is read all the same, so an image can be warmed when it is built and run with
a file system that is read-only.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

# Intel's vector library, where it is installed, would replace exp and log inside loops by versions whose
# last bit differs from libm's; a row scored alone would then differ from the same row in a batch.
os.environ.setdefault("NUMBA_DISABLE_INTEL_SVML", "1")

import numba
from numba.core import caching

__all__ = ["NotKeptError", "cache_folder", "compiled_kernels", "kernel", "without_compiling"]

#: What a folder that is not there, is not ours, or holds damaged files leads to.
_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)

P = ParamSpec("P")
R = TypeVar("R")

_kernels: list[Any] = []
_may_compile = True


class NotKeptError(RuntimeError):
    """A kernel would have to be compiled: its machine code for this processor is not in the cache."""


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays on first use and keep the machine code on disk.

    Serial and without the interpreter lock: threads of the caller may run kernels side by side, and a fork
    after a fit still works. No ``fastmath``: NaN means missing, and sums must not be reordered.
    """
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy")(function)
    # What `cache=True` does, with another folder.
    dispatcher._cache = _Cache(function)  # type: ignore[no-untyped-call]
    _kernels.append(dispatcher)
    compiled: Callable[P, R] = dispatcher
    return compiled


def cache_folder() -> Path:
    """Folder that holds the machine code."""
    chosen = getattr(numba.config, "CACHE_DIR", "")
    if chosen:
        return Path(chosen)
    beside = Path(__file__).parent / "__pycache__"
    if os.access(beside if beside.exists() else beside.parent, os.W_OK) or any(beside.glob("*.nbc")):
        return beside
    users = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Whoever has no home has no cache of their own.
    return beside if users.startswith("~") else Path(users) / "costboost"


def compiled_kernels() -> int:
    """How many kernels this process had to compile, counted once for each type of their arrays."""
    return sum(sum(one.stats.cache_misses.values()) for one in _kernels)


@contextmanager
def without_compiling() -> Iterator[None]:
    """Refuse to compile meanwhile, in all threads: a kernel that is not kept raises `NotKeptError`."""
    global _may_compile  # noqa: PLW0603 - kernels are made before anybody can hand them a choice
    _may_compile = False
    try:
        yield
    finally:
        _may_compile = True


class _Locator(caching.UserProvidedCacheLocator):
    """Our folder, whether it can be written or not."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)  # type: ignore[no-untyped-call]
        folder = cache_folder()
        if folder != Path(__file__).parent / "__pycache__":
            folder /= self.get_suitable_cache_subpath(py_file)  # type: ignore[no-untyped-call]
        self._cache_path = str(folder)

    def get_source_stamp(self) -> str:
        # Kernels call kernels of other files, whose code becomes part of theirs.
        return _hash_of_sources()

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)


@cache
def _hash_of_sources() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - as numba declares it


class _Cache(caching.FunctionCache):
    """The machine code of one kernel."""

    _impl_class = _Kept

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        with suppress(*_UNREADABLE):
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None and not _may_compile:
            raise NotKeptError(f"{self._py_func.__name__} is not compiled")
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        # A full disk or a folder that cannot be written costs time at the next start, not this fit.
        with suppress(*_UNREADABLE):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
