"""A reserved idempotency key, as those see it who make something with it."""

from dataclasses import dataclass


@dataclass
class Receipt:
    """
    A key that a request has reserved; a use case signs it in the transaction that makes something.

    Attributes
    ----------
    id : str
        Of the key within its scope.
    owner : str
        This request; another may take the key over once this one is taken for dead.
    fingerprint : str or None
        Of the body, once it has been read.
    """

    id: str
    owner: str
    fingerprint: str | None = None
