"""What may have been meant by a name that nobody knows."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

from service.domain.errors import listed

#: Longer names are not compared: it takes the product of their lengths.
_LONGEST: Final = 100


def nearest(meant: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Give the known names that are nearly the one that was meant, whatever their case, the nearest first."""
    folded = {name.casefold(): name for name in known if len(name) <= _LONGEST}
    if len(meant) > _LONGEST:
        return []
    return [folded[name] for name in get_close_matches(meant.casefold(), folded, most)]


def listed_for(meant: str, known: Iterable[str]) -> str:
    """List the names that there are, for a message, and ask whether the nearest of them is meant."""
    names = list(known)
    near = nearest(meant, names)
    return f"{listed(names)}; did you mean {listed(near)}?" if near else listed(names)
