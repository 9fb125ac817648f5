"""A version as one file: what its manifest says."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter

from service.domain.datasets import Dataset
from service.domain.reports import InputSchema, Metrics
from service.domain.training import SettledSpec

#: The file is a ZIP archive, stored and not compressed, of exactly these.
MANIFEST: Final = "manifest.json"
MODEL: Final = "model.safetensors"
REPORT: Final = "report.json"
TEST_PART: Final = "test_part.safetensors"
FILES: Final = (MODEL, REPORT, TEST_PART)
MEDIA_TYPE: Final = "application/zip"

_DATASET: TypeAdapter[Dataset] = TypeAdapter(Dataset)
_METRICS: TypeAdapter[Metrics] = TypeAdapter(Metrics)
_SCHEMA: TypeAdapter[InputSchema] = TypeAdapter(InputSchema)

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _of_metrics(value: dict[str, Any]) -> dict[str, Any]:
    _METRICS.validate_python(value)
    return value


def _of_schema(value: dict[str, Any]) -> dict[str, Any]:
    _SCHEMA.validate_python(value)
    return value


class Manifest(BaseModel):
    """
    All that a version is beside its bytes.

    Attributes
    ----------
    spec : SettledSpec
        With the costs themselves, not the name of a cost spec.
    dataset : Dataset
        As it was; its rows are not in the file.
    files : mapping of name to sha256
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    format: Literal[1]
    model: str
    version: int
    created_at: datetime
    spec: SettledSpec
    schema_: Annotated[dict[str, Any], AfterValidator(_of_schema)] = Field(alias="schema")
    metrics: Annotated[dict[str, Any], AfterValidator(_of_metrics)]
    library_versions: Mapping[str, str]
    training_seconds: FiniteFloat
    dataset: Dataset
    currency: str | None
    files: Mapping[Literal["model.safetensors", "report.json", "test_part.safetensors"], Sha256]


def dataset_of(origin: Mapping[str, Any]) -> Dataset:
    """The dataset that an imported version was made of, as its `origin` tells."""
    return _DATASET.validate_python(origin["dataset"])


def origin_of(manifest: Manifest) -> dict[str, Any]:
    """What is kept of where an imported version came from, as plain JSON."""
    kept = {"model", "version", "created_at", "dataset", "currency"}
    return manifest.model_dump(mode="json", include=kept)
