import re

import pytest

from service.domain.errors import InvalidError
from service.ui.forms import Form, read_number
from tests.service.conftest import table
from tests.service.ui.conftest import Shop


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


def test_spaces_go_where_people_type_and_stay_where_data_has_them() -> None:
    form = Form(
        [("name", " shop "), ("label", "yes "), ("row.merchant", "milk "), ("row.hour", ""), ("id", " ")]
    )
    assert (form.text("name"), form.verbatim("label")) == ("shop", "yes ")
    assert form.cells("row") == {"merchant": "milk "}
    assert "id" not in form


def test_a_row_is_decided_as_it_is_written(shop: Shop) -> None:
    unseen = []
    for merchant in ("a", "a "):
        row = {"row.amount": "310.5", "row.hour": "12", "row.merchant": merchant}
        path = "/ui/models/shop/versions/1/decide"
        told = shop.service.http.post(path, data=row, headers={"Origin": shop.address}).text
        unseen.append("did not occur in training" in told)
    assert unseen == [False, True]


def test_tables_and_costs_of_one_name_are_told_apart_and_the_newest_is_chosen(shop: Shop) -> None:
    older, newer = (shop.service.upload(table(rows), name="twins")["id"] for rows in (40, 50))
    for cost in (5, 6):
        shop.service.http.post("/v1/cost-specs", json={"name": "twins", "costs": {"fn": cost, "fp": 1}})
    asked = shop.service.http.get("/ui/trainings/new?dataset=twins&cost_spec=twins").text
    found = re.findall(r'<option value="([^"]+)"( selected)?>(twins · [^<]+)</option>', asked)
    assert [one[0] for one in found[:2]] == [newer, older]
    assert [bool(one[1]) for one in found] == [True, False, True, False]
    times = r" · \d{4}-\d\d-\d\d \d\d:\d\d"
    wanted = ("50 rows" + times, "40 rows" + times, "revision 2", "revision 1")
    for (_, _, told), pattern in zip(found, wanted, strict=True):
        assert re.fullmatch(f"twins · {pattern}", told)
    for page in ("/ui/costs/new", "/ui/models/shop/versions/1/simulate"):
        assert re.search("twins · 50 rows" + times, shop.service.http.get(page).text), page


def test_a_model_is_trained_again_on_what_it_learned_from(shop: Shop) -> None:
    shop.service.upload(table(40), name="newer than the shop's")
    again, first = (shop.service.http.get(f"/ui/trainings/new?model={name}") for name in ("shop", "first"))
    assert f'value="{shop.dataset}" selected' in again.text
    assert f'value="{shop.dataset}" selected' not in first.text


def test_a_typical_amount_is_not_set_beside_itself(shop: Shop) -> None:
    path = "/ui/models/shop/versions/1/decide"
    row = dict(re.findall(r'name="(row\.\w+)"[^>]* value="([^"]*)"', shop.service.http.get(path).text))
    told = [
        shop.service.http.post(path, data=sent, headers={"Origin": shop.address}).text
        for sent in (row, row | {"row.amount": "900"})
    ]
    assert ["as is typical" in one for one in told] == [True, False]
    assert ["at what is typical" in one for one in told] == [False, True]
