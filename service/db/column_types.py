"""What Python values are in a column: moments, and JSON."""

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import JSON, DateTime, Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator, TypeEngine


def json_type() -> TypeEngine[Any]:
    """JSON; on PostgreSQL JSONB."""
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored in UTC, always read with its zone (SQLite itself forgets it)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn into UTC; a moment without zone would mean something else on each machine."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs a time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Give back with zone UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class JsonDocument(TypeDecorator[Any]):
    """A pydantic value, stored whole as JSON and read back as the same type."""

    impl = JSON
    cache_ok = True

    def __init__(self, document: type[BaseModel]) -> None:
        super().__init__()
        self.document = document

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """JSONB on PostgreSQL."""
        return dialect.type_descriptor(json_type())

    def process_bind_param(self, value: BaseModel | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Turn into plain JSON values."""
        return None if value is None else value.model_dump(mode="json")

    def process_result_value(self, value: Any, dialect: Dialect) -> BaseModel | None:  # noqa: ARG002
        """Check and build the value again."""
        return None if value is None else self.document.model_validate(value)
