"""What an operating system says of a disk, in the words of the contract."""

import errno
import os
from typing import Final

from service.domain.errors import UnavailableError

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
#: What passes or is mended from outside: a disk that fails, is away or may not be used, too many open files.
_AWAY: Final = frozenset(
    {
        errno.EIO,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENODEV,
        errno.ENXIO,
        errno.ESTALE,
    }
)


def outage_of(error: OSError) -> UnavailableError | None:
    """Tell a disk that is full or away from what is nobody's fault but ours (None)."""
    if error.errno in _FULL:
        return UnavailableError("storage_full", "no space is left in the storage", retry_after=60)
    return storage_away(error) if error.errno in _AWAY else None


def storage_away(error: OSError) -> UnavailableError:
    """Say that the storage is away, and why; the system's own words for it name no path."""
    why = os.strerror(error.errno) if error.errno else "no reason given"
    detail = f"the storage cannot be used just now ({why})"
    return UnavailableError("storage_unavailable", detail, retry_after=5)
