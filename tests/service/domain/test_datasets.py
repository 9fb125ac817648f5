"""Labels have one spelling; classes have an order; the rarer one is positive."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from service.domain.datasets import IntakeOptions, canonical_label, class_order, rarer_class


@pytest.mark.parametrize(
    ("value", "label"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        ("1.0", "1"),
        ("+1", "1"),
        ("-0", "0"),
        (0.5, "0.5"),
        ("0.50", "0.5"),
        ("1e3", "1000"),
        ("01", "01"),
        ("0x1", "0x1"),
        (True, "true"),
        ("False", "false"),
        (" yes ", "yes"),
        ("", None),
        (None, None),
        (float("nan"), None),
        (10**20, "100000000000000000000"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_canonical_label(value, label):
    assert canonical_label(value) == label


@given(st.text() | st.integers() | st.floats() | st.booleans())
def test_a_canonical_label_is_its_own(value):
    label = canonical_label(value)
    assert label is None or canonical_label(label) == label


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["10", "2", "-3"], ("-3", "2", "10")),
        (["10", "2", "a"], ("10", "2", "a")),
        (["true", "false"], ("false", "true")),
        (["\u00e9", "z", "Z"], ("Z", "z", "\u00e9")),
    ],
)
def test_class_order(labels, order):
    assert class_order(labels) == order


def test_rarer_class():
    assert rarer_class({"a": 1, "b": 2}) == "a"
    assert rarer_class({"a": 2, "b": 1}) == "b"
    assert rarer_class({"a": 1, "b": 1}) == "b"


@pytest.mark.parametrize(
    "options",
    [
        {"name": ""},
        {"name": "a\0b"},
        {"name": "x" * 10_000},
        {"roles": {"a": "target"}},
        {"types": {"a": "int"}},
        {"positive_class": ""},
        {"tenant_id": "x"},
        {"classes": ["c"] * 1000},
    ],
)
def test_options_refused(options):
    with pytest.raises(ValidationError):
        IntakeOptions.model_validate(options)


def test_classes_of_options_are_canonical():
    options = IntakeOptions.model_validate({"classes": [1, "2.0", True], "positive_class": 2.0})
    assert (options.classes, options.positive_class) == (("1", "2", "true"), "2")
