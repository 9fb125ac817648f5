"""Names of artifacts: the sha256 of their bytes, in lower-case hexadecimal digits."""

import hashlib
import re
from pathlib import Path

SHA256 = re.compile(r"[0-9a-f]{64}\Z")


def require_sha256(name: str) -> None:
    """Refuse what is no name of an artifact.

    Raises
    ------
    ValueError
    """
    if not SHA256.match(name):
        raise ValueError("not a sha256")


def digest_of(path: Path) -> str:
    """Hash what a file holds."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
