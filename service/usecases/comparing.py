"""Versions of a model beside one another, on rows that none of them was fitted to."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session, sessionmaker

from service import learning
from service.artifacts.store import ArtifactStore
from service.domain.errors import FieldError, InvalidError
from service.domain.models import Version
from service.learning import Pairing
from service.usecases.evaluations import open_test_part
from service.usecases.models import read_version

MOST = 4


@dataclass(frozen=True)
class Compared:
    """A version, and how it does against the first on the rows that both set aside, if there are any."""

    version: Version
    pairing: Pairing | None


def compare(
    readers: sessionmaker[Session], store: ArtifactStore, tenant: str, model: str, numbers: Sequence[int]
) -> list[Compared]:
    """
    Compare two to four versions with the first of them, at its costs.

    Raises
    ------
    InvalidError
        There are fewer, or more.
    ConflictError
        `no_report`.
    """
    chosen = list(dict.fromkeys(numbers))
    if not 2 <= len(chosen) <= MOST:
        detail = f"choose two to {MOST} versions"
        raise InvalidError("invalid", detail, [FieldError("/query/version", "out_of_range", detail)])
    versions = [read_version(readers, tenant, model, number) for number in chosen]
    parts = [open_test_part(store, one) for one in versions]
    first = versions[0]
    return [
        Compared(one, learning.pair(parts[0], part) if one.dataset_sha256 == first.dataset_sha256 else None)
        for one, part in zip(versions, parts, strict=True)
    ]
