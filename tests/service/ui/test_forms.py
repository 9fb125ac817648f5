import pytest

from service.domain.errors import InvalidError
from service.ui.forms import read_number


@pytest.mark.parametrize(
    ("text", "number"), [("10.50", 10.5), ("-3", -3.0), ("1 234.5", 1234.5), ("1e3", 1e3)]
)
def test_a_number_has_a_point(text: str, number: float) -> None:
    assert read_number(text, "/cost") == number


@pytest.mark.parametrize("text", ["10,50", "1,234.5", "1.234,50", "10 EUR", "nan", "inf", ""])
def test_a_comma_may_mean_thousands_or_a_fraction_and_is_refused(text: str) -> None:
    with pytest.raises(InvalidError) as caught:
        read_number(text, "/cost")
    assert [(one.pointer, one.code) for one in caught.value.errors] == [("/cost", "finite_number")]
