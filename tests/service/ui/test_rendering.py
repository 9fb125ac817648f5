"""How values are written: alike on the server and in the browser, and never as markup."""

import random
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from markupsafe import Markup, escape
from playwright.sync_api import Page, expect

from service.cli.remedies import remedy as at_terminal
from service.domain.problems.registry import PROBLEMS
from service.domain.training import FailureCode
from service.ui import assets, rendering
from service.ui.remedies import remedy
from service.ui.rendering import cash, cell, count, data, money, number, percent, value
from tests.service.conftest import Service
from tests.service.ui.conftest import Shop, key


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0.0, "0.00"),
        (1234567.891, "1,234,567.89"),
        (-1234.5, "-1,234.50"),
        (0.125, "0.1250"),
        (2.125, "2.13"),  # a half goes away from zero
        (-2.125, "-2.13"),
        (0.00012346, "0.0001235"),
        (None, "–"),
        (7, "7"),
    ],
)
def test_numbers_are_grouped_and_rounded_as_people_do(amount: float | None, written: str) -> None:
    assert number(amount) == written


def test_counts_shares_and_money() -> None:
    assert number(1e300) == f"{int(1e300):,}.00"
    assert (count(1234.0), count(1.5), percent(0.12345), percent(None)) == ("1,234", "1.50", "12.3 %", "–")
    amounts = (0.0, -0.3129, 0.08, 0.0044694, 12.344, 0.0996)
    assert [cash(one) for one in amounts] == ["0.00", "-0.31", "0.080", "0.0045", "12.34", "0.100"]
    assert money(3.5, "<b>") == '<span class="money"><span class="unit">&lt;b&gt;</span>&nbsp;3.50</span>'


def test_costs_are_told_in_words() -> None:
    whole = {"fixed": 5.0, "per": {"amount": 1.0, "<b>": 0.02}, "min": 15.0}
    told = Markup(cell(whole, "EUR")).striptags().replace("\N{NO-BREAK SPACE}", " ")
    assert told == "EUR 5.00 + amount + 0.02000 × <b>, at least EUR 15.00"
    assert cell({"per": {"amount": 1.0}}) == "amount"
    assert cell(0.0) == money(0.0)
    assert value({"name": "tree", "max_depth": 3}) == "name tree, max depth 3"


def test_a_loss_is_marked_and_said() -> None:
    macros = rendering._environment().get_template("macros.html").module
    assert 'class="loss"' in macros.saved(-0.2)  # type: ignore[attr-defined]
    assert "a loss" in macros.saved(-0.2)  # type: ignore[attr-defined]
    assert "loss" not in macros.saved(0.2)  # type: ignore[attr-defined]
    page = rendering._environment().from_string(
        '{% import "macros.html" as m %}{{ m.saved_against(metrics) }}'
    )
    shown = {
        share: page.render(metrics={"savings": share, "baseline_action": "b", "rows": 9})
        for share in (-0.2, 0.2, None)
    }
    assert [("Lost" in text, "What to do" in text) for text in shown.values()] == [(True, True)] + 2 * [
        (False, False)
    ]
    assert "20.0 %" in shown[-0.2]


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ({"savings": 0.2, "savings_ci95": [0.1, 0.3]}, "10.0 % to 30.0 %"),
        ({"savings": 0.2, "savings_ci95": [-0.1, 0.3]}, "-10.0 % to 30.0 %, unproven"),
        ({"savings": -0.4, "savings_ci95": [-0.5, -0.3]}, "-50.0 % to -30.0 %"),
        ({"savings": 0.2}, "unproven"),
        ({"savings": None}, "–"),
    ],
)
def test_savings_that_chance_may_have_made_are_called_unproven(metrics: dict[str, Any], told: str) -> None:
    macros = rendering._environment().get_template("macros.html").module
    assert macros.savings_interval(metrics).strip() == told  # type: ignore[attr-defined]


def test_data_cannot_end_the_element_that_holds_it() -> None:
    assert "<" not in data({"</script>": "<!--&"})


def test_the_browser_writes_the_same_numbers(shop: Shop, page: Page) -> None:
    draw = random.Random(7)
    amounts = [draw.choice((-1, 1)) * 10 ** draw.uniform(-9, 12) for _ in range(500)]
    amounts += [n / 8 for n in range(-40, 40)] + [n / 1000 for n in range(1000)] + [0.99996, 0.999949, 1e15]
    page.goto(f"{shop.address}/ui/sign-in")
    script = f"""async (amounts) => {{
        const written = await import("{assets.address_of("written.js")}");
        const ways = [written.number, written.percent, written.count, written.cash];
        return amounts.map((one) => ways.map((write) => write(one)));
    }}"""
    found = page.evaluate(script, amounts)
    assert found == [[number(one), percent(one), count(one), cash(one)] for one in amounts]


def test_names_of_columns_and_classes_are_text_wherever_they_stand(
    shop: Shop, page: Page, tmp_path: Path
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    rows = "".join(f"{n % 7},{evil if n % 3 else 'plain'}\n" for n in range(60))
    file = tmp_path / "evil.csv"
    file.write_text(f"{evil},label\n{rows}")
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    page.goto(f"{shop.address}/ui/datasets/new")
    page.get_by_label("File").set_input_files(file)
    page.get_by_label("Name").fill(evil)
    page.get_by_role("button", name="Bring it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(evil)
    expect(page.locator("figure.chart canvas")).to_have_count(1)
    page.locator("figure.chart summary").first.click()
    assert page.locator("img").count() == 0
    assert str(escape(evil)) in shop.service.http.get("/ui/datasets", headers={"Cookie": ""}).text


def test_a_refused_form_tells_each_field(sqlite_service: Service) -> None:
    own = {"Origin": str(sqlite_service.http.base_url).rstrip("/"), "HX-Request": "true"}
    answer = sqlite_service.http.post(
        "/ui/trainings", data={"model": "m", "dataset": "d", "cost_spec": "c", "seed": "1.5"}, headers=own
    )
    assert answer.status_code == 422
    assert "<html" not in answer.text
    assert "<strong>seed</strong>: must be a whole number" in answer.text


def test_refusals_say_what_to_do_on_a_page() -> None:
    of_requests = re.compile(r"`(GET|POST|PUT|Accept|Allow|ETag|If-Match|errors)\b")
    for code in PROBLEMS:
        told = remedy(code)
        assert told
        assert not of_requests.search(told), code
        assert not of_requests.search(at_terminal(code) or ""), code
    for code in ("unknown_dataset", "empty_body", "invalid_param", *get_args(FailureCode)):
        told = remedy(code)
        assert told is not None
        assert "/v1/" not in told
        assert "curl" not in told
    assert remedy("of no problem") is None


def test_long_lists_have_pages(locked: Service) -> None:
    cookie = {"Cookie": f"costboost_key={key(locked, 'admin', tenant='lists')}"}
    bearer = {"Authorization": f"Bearer {key(locked, 'admin', tenant='lists')}"}
    for each in range(52):
        locked.http.post("/v1/cost-specs", json={"name": f"n{each}", "fn": 2, "fp": 1}, headers=bearer)
    first = locked.http.get("/ui/costs", headers=cookie).text
    assert (">n51<" in first, ">n2<" in first, ">n1<" in first) == (True, True, False)
    older = re.search(r'href="(\?after=[^"]+)"', first)
    assert older is not None
    rest = locked.http.get(f"/ui/costs{older[1]}", headers=cookie).text
    assert (">n1<" in rest, ">n0<" in rest, "Older" in rest) == (True, True, False)
