import inspect

import pytest
from pydantic import BaseModel, ValidationError

from service.api import errors
from service.domain import errors as domain
from service.domain.errors import CostboostError, UnavailableError
from service.domain.faults import field_errors

CLASSES = [
    cls
    for _, cls in inspect.getmembers(domain, inspect.isclass)
    if issubclass(cls, CostboostError) and cls is not CostboostError
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_of_the_domain_has_a_status_of_its_own(cls: type[CostboostError]) -> None:
    assert cls in errors.STATUS


def test_a_subclass_takes_the_status_of_its_parent() -> None:
    class SpecialError(UnavailableError):
        pass

    assert errors.status_of(SpecialError("busy", "busy")) == 503


class Inner(BaseModel, extra="forbid"):
    amount: float


class Outer(BaseModel, extra="forbid"):
    rows: list[Inner]
    choice: int | Inner = 0
    names: dict[str, int] = {}


def faults(body: object) -> set[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(body)
    return {(fault.pointer, fault.code) for fault in field_errors(caught.value.errors(), body)}


def test_pointers_lead_to_the_place() -> None:
    assert faults({"rows": [{"amount": 1}, {"amount": "x"}]}) == {("/rows/1/amount", "float_parsing")}
    assert faults({"rows": [{}]}) == {("/rows/0/amount", "missing")}
    assert faults({"rows": [], "names": {"a/b~c": "x"}}) == {("/names/a~1b~0c", "int_parsing")}
    assert faults({"rows": [], "extra": 1}) == {("/extra", "unknown_field")}


def test_names_of_union_members_are_no_part_of_a_pointer() -> None:
    assert {pointer for pointer, _ in faults({"rows": [], "choice": {"amount": "x"}})} == {
        "/choice",
        "/choice/amount",
    }


def test_no_value_is_quoted() -> None:
    body = {"rows": [{"amount": "canary-7f3a"}]}
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(body)
    assert "canary" not in str(field_errors(caught.value.errors(), body))
