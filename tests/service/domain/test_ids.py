"""Ids sort by the order in which they were made, and are UUIDs of version 7."""

import time
from uuid import UUID

import pytest

from service.domain import ids


def test_ids_sort_and_differ() -> None:
    made = [ids.new_id("job") for _ in range(5000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_an_id_is_a_version_7_uuid_of_now() -> None:
    prefix, _, text = ids.new_id("ds").partition("_")
    uuid = UUID(text)
    assert prefix == "ds"
    assert (uuid.version, uuid.variant) == (7, "specified in RFC 4122")
    assert abs((uuid.int >> 80) / 1000 - time.time()) < 5


def test_a_clock_that_goes_back_changes_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ids.new_id("job")
    monkeypatch.setattr(ids.time, "time_ns", lambda: 0)
    assert ids.new_id("job") > first
