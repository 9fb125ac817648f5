"""What the audit log holds: who did what to which thing, and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class AuditEntry:
    """
    One entry; it never changes.

    Attributes
    ----------
    actor : str
        Id of the API key or training job; "local" on a service without keys, "cli" for the command line.
    action : str
        Such as "alias.put" or "api_key.revoke".
    target : str
        Path of the thing, such as "/v1/models/card-fraud/aliases/champion".
    """

    id: str
    tenant_id: str
    at: datetime
    actor: str
    action: str
    target: str
    details: Mapping[str, Any]
