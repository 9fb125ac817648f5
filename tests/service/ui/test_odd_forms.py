"""Forms as programs send them: what the API would refuse is refused here too, and nothing is passed over."""

from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest

from service.ui.datasets import _listed
from tests.service.conftest import Service, table
from tests.service.records import add_version

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def shop(service: Service) -> Service:
    """A version to which forms can be sent, on either database."""
    add_version(service.wiring, "odd-forms")
    return service


def post(service: Service, path: str, fields: Any) -> httpx2.Response:
    content = fields if isinstance(fields, bytes) else urlencode(fields, doseq=True).encode()
    return service.http.post(path, content=content, headers={"Origin": str(service.http.base_url), **FORM})


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/ui/models/odd-forms/versions/1/champion", {"reason": "a\0b"}),
        ("/ui/models/odd-forms/settings", {"description": "a\0b"}),
        ("/ui/costs", {"name": "a", "fn.factor": 1, "fn.column": "a\0b", "fp.fixed": 1}),
        ("/ui/costs", {"name": "a", "fn.\0": 1}),
    ],
)
def test_a_nul_is_refused(shop: Service, path: str, fields: dict[str, Any]) -> None:
    answer = post(shop, path, fields)
    assert answer.status_code == 400, answer.text
    assert "holds a NUL" in answer.text


def test_what_is_not_utf_8_is_refused(shop: Service) -> None:
    assert post(shop, "/ui/costs", b"name=%ff&fn.fixed=5&fp.fixed=1").status_code == 400
    assert post(shop, "/ui/costs", b"name=\xff&fn.fixed=5&fp.fixed=1").status_code == 400


def test_a_reason_is_no_longer_than_the_api_takes_it(shop: Service) -> None:
    answer = post(shop, "/ui/models/odd-forms/versions/1/champion", {"reason": "x" * 2001})
    assert answer.status_code == 422
    assert "2000" in answer.text


def test_bounds_count_without_a_column(shop: Service) -> None:
    costs = {"name": "floor", "fn.fixed": 5, "fn.min": 15, "fp.fixed": 1}
    assert post(shop, "/ui/costs", costs).status_code == 303
    kept = shop.http.get("/v1/cost-specs/floor").json()
    assert any("0.0625" in told for told in kept["consequences"]), kept["consequences"]  # 1 / (15 + 1)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"json": '{"fn": 5, "fp": 1}', "fn.fixed": 500, "fp.fixed": 10}, "fn and fp above"),
        ({"json": '{"name": "theirs", "fn": 5, "fp": 1}'}, "has a field of its own"),
        ({"json": '{"currency": "USD", "fn": 5, "fp": 1}'}, "has a field of its own"),
        ({"fn.fixed": ["5", "50"], "fp.fixed": 1}, "comes twice"),
        ({"fn.fixed": "1_000", "fp.fixed": 1}, "with a point"),
        ({"fn.fixed": "٣", "fp.fixed": 1}, "with a point"),
    ],
)
def test_costs_that_say_two_things_or_no_number(shop: Service, fields: dict[str, Any], told: str) -> None:
    answer = post(shop, "/ui/costs", {"name": "mine", **fields})
    assert answer.status_code == 422
    assert told in answer.text
    for name in ("mine", "theirs"):
        assert shop.http.get(f"/v1/cost-specs/{name}").status_code == 404


def upload(service: Service, csv: str, **fields: str) -> httpx2.Response:
    return service.http.post(
        "/ui/datasets",
        files={"file": ("odd.csv", csv, "text/csv")},
        data=fields,
        headers={"Origin": str(service.http.base_url)},
    )


def test_a_column_has_one_role(shop: Service) -> None:
    answer = upload(shop, table(), **{"roles.cost": "hour, amount", "roles.ignore": "amount"})
    assert answer.status_code == 422
    assert "also named under cost" in answer.text


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        (" a , b c,,", ["a", "b c"]),
        ('"a, b", " c "', ["a, b", " c "]),
        ('"say ""x""",d', ['say "x"', "d"]),
        ('5" pipe, "a"b', ['5" pipe', '"a"b']),
    ],
)
def test_names_by_commas(text: str, names: list[str]) -> None:
    assert _listed(text) == names


def test_names_with_a_comma_or_a_space_are_given_roles_in_quotes(shop: Service) -> None:
    header, *rows = table().splitlines()
    assert header.split(",")[:2] == ["amount", "hour"]
    csv = "\n".join([header.replace("amount,hour", '"fee, ""net""", hour', 1), *rows]) + "\n"
    answer = upload(shop, csv, **{"roles.cost": '"fee, ""net""" , " hour"'})
    assert answer.status_code == 303, answer.text
    roles = {
        one["name"]: one["role"]
        for one in shop.http.get(f"/v1/datasets/{answer.headers['location'].rpartition('/')[2]}").json()[
            "columns"
        ]
    }
    assert (roles['fee, "net"'], roles[" hour"]) == ("cost", "cost")
