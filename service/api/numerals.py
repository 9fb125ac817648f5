"""Whole numbers in addresses: one number has one spelling, so one thing has one address."""

import re
from typing import Any, Final

from service.domain.wording import custom

_PLAIN: Final = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def plain(given: Any) -> Any:
    """Refuse 1.0, +1, 01, 1_0 and spaces around, all of which pydantic reads."""
    if isinstance(given, str) and not _PLAIN.fullmatch(given):
        raise custom("int_parsing", "must be a whole number, written in digits")
    return given
