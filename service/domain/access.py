"""Who asks, and what they may do."""

from dataclasses import dataclass
from typing import Final

#: Of a service without API keys, everything belongs to one tenant.
DEFAULT_TENANT: Final = "default"


@dataclass(frozen=True)
class Caller:
    """
    Who sends a request.

    Attributes
    ----------
    tenant : str
        To whom everything belongs that the request makes or sees.
    key_id : str or None
        The API key; None on a service without keys.
    """

    tenant: str
    key_id: str | None
