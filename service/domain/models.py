"""A model is a name; its versions never change; an alias points from a name to a version and can move."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from service.domain.training import TrainingSpec

#: The alias that `/predict` uses when none is named; the first version of a model gets it by itself.
CHAMPION = "champion"


@dataclass(frozen=True)
class Model:
    """
    A name under which versions are kept.

    Attributes
    ----------
    record_rows : bool
        Whether decision records hold the rows themselves.
    retention_days : int or None
        For so long decision records with their feedback, and batch predictions, are kept; None: until erased.
    control_share : float or None
        Share of refused rows that chance lets through, so that it is known what refusing costs.
    shadow_alias : str or None
        Whose version decides every recorded row too, unseen.
    review_price : float or None
        What a review must save beyond its fee, in money; None: the `shadow_price` of the costs of training.
    reason_codes : mapping of column to code
        What a reason is called where it is given to the person it is about.
    """

    id: str
    tenant_id: str
    name: str
    description: str
    tags: Mapping[str, str]
    record_rows: bool
    retention_days: int | None
    control_share: float | None
    shadow_alias: str | None
    review_price: float | None
    reason_codes: Mapping[str, str]
    revision: int
    created_at: datetime
    updated_at: datetime

    def changed(self, at: datetime, changes: Mapping[str, Any]) -> "Model":
        """Change the fields that are named; the others stay."""
        return replace(self, **changes, revision=self.revision + 1, updated_at=at)


@dataclass(frozen=True)
class Version:
    """
    The result of one training job, here or in another installation; never changes.

    Attributes
    ----------
    job_id, dataset_id : str or None
        None where it was imported.
    origin : mapping or None
        Where an imported one came from: its model, version, dataset and currency there.
    report_sha256, test_part_sha256 : str or None
        Curves and the like, and what was said about each row of the test part. Versions from before these
        were kept have none.
    """

    id: str
    tenant_id: str
    model_id: str
    number: int
    job_id: str | None
    dataset_id: str | None
    dataset_sha256: str
    origin: Mapping[str, Any] | None
    spec: TrainingSpec
    schema: Mapping[str, Any]
    metrics: Mapping[str, Any]
    library_versions: Mapping[str, Any]
    training_seconds: float
    artifact_sha256: str
    artifact_bytes: int
    report_sha256: str | None
    test_part_sha256: str | None
    created_at: datetime

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Names of all bytes that are kept for it."""
        return tuple(one for one in (self.artifact_sha256, self.report_sha256, self.test_part_sha256) if one)


@dataclass(frozen=True)
class Alias:
    """A movable pointer to a version of its model."""

    id: str
    tenant_id: str
    model_id: str
    name: str
    version_number: int
    revision: int
    reason: str
    updated_at: datetime

    def moved(self, at: datetime, version_number: int, reason: str) -> "Alias":
        """Point to another version, or to the same one for another reason."""
        return replace(
            self, version_number=version_number, reason=reason, revision=self.revision + 1, updated_at=at
        )


@dataclass(frozen=True)
class ModelView:
    """A model with where its aliases point.

    Attributes
    ----------
    aliases : tuple of Alias
        Sorted by name.
    latest_version : int or None
        The newest version there is; None when all were deleted.
    versions : int
        How many there are.
    features : frozenset of str
        Columns that the newest version, or one that an alias points to, learned from; looked up only where
        reasons have codes.
    """

    model: Model
    aliases: tuple[Alias, ...]
    latest_version: int | None
    versions: int
    features: frozenset[str]

    @property
    def champion(self) -> int | None:
        """The version that answers where a request names none; None where no alias says so."""
        return next((alias.version_number for alias in self.aliases if alias.name == CHAMPION), None)
