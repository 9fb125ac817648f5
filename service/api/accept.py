"""Which of the media types that can be written a request prefers (RFC 9110, section 12.5.1)."""

from collections.abc import Sequence
from functools import lru_cache

from service.domain.errors import NotAcceptableError


#: Clients send few different ones, the same again and again.
@lru_cache(maxsize=64)
def preferred(accept: str, offers: Sequence[str], default: str) -> str:
    """
    Choose the offer of the highest weight, among equals the one that is named, then the default.

    Raises
    ------
    NotAcceptableError
        None of them is wanted.
    """
    weights = dict(_weighted(part) for part in accept.lower().split(",") if part.strip()) or {"*/*": 1.0}

    def rank(offer: str) -> tuple[float, int, bool]:
        ranges = (offer, f"{offer.partition('/')[0]}/*", "*/*")
        named = next((place for place, name in enumerate(ranges) if name in weights), None)
        return (0.0, 0, False) if named is None else (weights[ranges[named]], -named, offer == default)

    best = max(offers, key=rank)
    if not rank(best)[0]:
        raise NotAcceptableError("not_acceptable", f"this is written as one of {', '.join(offers)}")
    return best


def _weighted(part: str) -> tuple[str, float]:
    name, *parameters = (piece.strip() for piece in part.split(";"))
    quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
    try:
        return name, float(quality)
    except ValueError:
        return name, 0.0
