"""A version: what is shown is what the API answers, wherever the threshold stands."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from service.ui.rendering import cash, count, number, percent
from tests.service.conftest import table
from tests.service.ui.conftest import Shop

VERSION = "/ui/models/shop/versions/1"


@pytest.fixture(scope="module")
def thresholds(shop: Shop) -> dict[str, list[float]]:
    return shop.service.http.get("/v1/models/shop/versions/1/curves").json()["thresholds"]


@pytest.fixture(scope="module")
def metrics(shop: Shop) -> dict[str, Any]:
    return shop.service.http.get("/v1/models/shop/versions/1/evaluation").json()["metrics"]


def out(page: Page, name: str) -> str:
    return (page.locator(f"[data-out={name}]").text_content() or "").replace("\N{NO-BREAK SPACE}", " ")


def test_money_comes_first_and_is_that_of_the_api(
    shop: Shop, page: Page, metrics: dict[str, Any], sound: Callable[[Page], None]
) -> None:
    page.goto(shop.address + VERSION)
    money = page.get_by_label("Money", exact=True)
    expect(money).to_contain_text(percent(metrics["savings"]))
    expect(money).to_contain_text(f"EUR\N{NO-BREAK SPACE}{cash(metrics['total_cost'])}")
    matrix = page.get_by_role("region", name="What it decided on the test rows")
    shown = [int(text.split()[0]) for text in matrix.locator("td").all_inner_texts()]
    assert shown == [int(n) for row in metrics["confusion"] for n in row]
    sound(page)


def test_the_slider_shows_the_servers_numbers_by_mouse_and_by_keyboard(
    shop: Shop, page: Page, thresholds: dict[str, list[float]], metrics: dict[str, Any]
) -> None:
    page.goto(shop.address + VERSION)
    cheapest = min(thresholds["cost"])
    assert out(page, "cost") == f"EUR {cash(cheapest)}"
    slider = page.get_by_role("slider")
    for key, at in (("Home", 0), ("ArrowRight", 1), ("End", len(thresholds["cost"]) - 1)):
        slider.press(key)
        tp, fp, fn, tn = (thresholds[name][at] for name in ("tp", "fp", "fn", "tn"))
        assert [out(page, name) for name in ("tp", "fp", "fn", "tn")] == [count(n) for n in (tp, fp, fn, tn)]
        cost = thresholds["cost"][at]
        assert out(page, "cost") == f"EUR {cash(cost)}"
        assert out(page, "savings") == percent(1 - cost / metrics["baseline_cost"])
        assert out(page, "recall") == percent(tp / (tp + fn))
        assert out(page, "precision") == (percent(tp / (tp + fp)) if tp + fp else "–")
    page.get_by_role("button", name="To the cheapest").click()
    assert out(page, "cost") == f"EUR {cash(cheapest)}"
    assert out(page, "above-cheapest") == "+ EUR 0.00"


def test_money_by_outcome_adds_up_to_the_cost_of_each_threshold(
    shop: Shop, page: Page, thresholds: dict[str, list[float]]
) -> None:
    page.goto(shop.address + VERSION)
    held = json.loads(page.locator("#thresholds").text_content() or "")
    assert held["cost"] == thresholds["cost"]
    sums = [
        sum(parts) for parts in zip(*(held["costs"][name] for name in ("tp", "fp", "fn", "tn")), strict=True)
    ]
    assert sums == pytest.approx(thresholds["cost"], rel=1e-12, abs=1e-9)


def test_each_chart_has_its_numbers_as_a_table(shop: Shop, page: Page) -> None:
    page.goto(shop.address + VERSION)
    charts = page.locator("figure.chart")
    expect(charts.locator("canvas")).to_have_count(charts.count())
    roc = page.locator("#roc")
    roc.get_by_text("Numbers as a table").focus()
    page.keyboard.press("Enter")
    curve = shop.service.http.get("/v1/models/shop/versions/1/curves").json()["roc"]
    expect(roc.locator(".scroll tbody tr")).to_have_count(len(curve["fpr"]))
    expect(roc.locator(".scroll tbody tr").nth(1).locator("td").nth(1)).to_have_text(
        re.compile(f"^{re.escape(number(curve['tpr'][1]))}$|^{curve['tpr'][1]:g}$")
    )


def test_a_page_is_light(shop: Shop, page: Page) -> None:
    page.goto(shop.address + VERSION, wait_until="networkidle")
    entries = "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
    sizes = page.evaluate(f"{entries}.map((one) => one.decodedBodySize)")
    assert len(sizes) > 5
    assert sum(sizes) < 300_000


def test_another_version_can_be_made_champion(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.address}/ui/models/shop/versions/2")
    page.get_by_label("Why this one").fill("to see it move")
    page.get_by_role("button", name="Let it answer from now on").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("champion")
    alias = shop.service.http.get("/v1/models/shop/aliases/champion")
    assert (alias.json()["version"], alias.json()["reason"]) == (2, "to see it move")
    shop.service.http.put(
        "/v1/models/shop/aliases/champion", json={"version": 1}, headers={"If-Match": alias.headers["etag"]}
    )


THREE = {
    "classes": ["a", "b", "c"],
    "actions": ["a", "b", "c", {"name": "ask", "kind": "review"}],
    "costs": [{"true": true, "action": act, "cost": 9} for true in "abc" for act in "abc" if true != act],
    "review": {"fee": 3.0, "accuracy": {"a": 0.9, "b": 0.9, "c": 0.9}},
}


def test_more_classes_and_a_review_have_their_tables_and_curves(
    shop: Shop, page: Page, sound: Callable[[Page], None]
) -> None:
    csv = table(300, seed=3, classes=("a", "b", "c"))
    job = shop.service.train("three", csv, THREE, params={"n_estimators": 5})
    page.goto(f"{shop.address}/ui/models/three/versions/1")
    expect(page.get_by_role("slider")).to_have_count(0)
    matrix = page.get_by_role("region", name="What it decided on the test rows")
    expect(matrix.get_by_role("columnheader", name="decided “ask”")).to_be_visible()
    shown = [int(text.split()[0]) for text in matrix.locator("td").all_inner_texts()]
    assert shown == [int(n) for row in job["result"]["metrics"]["confusion"] for n in row]
    page.get_by_text("“b” against the rest").click()
    expect(page.locator("#class-1-roc canvas")).to_be_visible()
    sound(page)
    page.get_by_role("link", name="Decide a row").click()
    expect(page.get_by_text("Without its row, and so without reasons")).to_be_visible()
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("Decided: “")).to_be_visible()
    page.goto(f"{shop.address}/ui/models/three/versions/1/card")
    expect(page.get_by_role("heading", level=1)).to_have_text("three, version 1")
