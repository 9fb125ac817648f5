"""The overview: models in money, and first steps where there is nothing yet."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.service.conftest import Service
from tests.service.records import add_version
from tests.service.ui.conftest import Shop, address, key


def test_models_and_jobs_are_listed_in_money(shop: Shop, page: Page, sound: Callable[[Page], None]) -> None:
    version = shop.service.http.get("/v1/models/shop/versions/1").json()
    page.goto(shop.address)
    assert page.url == f"{shop.address}/ui"
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name="shop", exact=True)).first
    expect(row).to_contain_text(f"{100 * version['metrics']['savings']:.1f} %")
    low, high = version["metrics"]["savings_ci95"]
    expect(row).to_contain_text(f"{100 * low:.1f} % to {100 * high:.1f} %")
    expect(page.get_by_text("succeeded").first).to_be_visible()
    sound(page)
    row.get_by_role("link", name="shop", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop")
    sound(page)


def test_where_nothing_is_yet_it_says_what_to_do(
    locked: Service, page: Page, sound: Callable[[Page], None]
) -> None:
    token = key(locked, "admin", tenant="newcomer")
    page.context.add_cookies([{"name": "costboost_key", "value": token, "url": f"{address(locked)}/ui"}])
    page.goto(f"{address(locked)}/ui")
    steps = page.get_by_role("listitem").filter(has=page.get_by_role("heading"))
    expect(steps).to_have_count(3)
    expect(page.get_by_role("link", name="1. Bring a table")).to_be_visible()
    sound(page)


def test_an_unknown_page_leads_back(shop: Shop, page: Page) -> None:
    answer = page.goto(f"{shop.address}/ui/nowhere")
    assert answer is not None
    assert answer.status == 404
    page.get_by_role("link", name="To the overview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_a_model_whose_champion_was_taken_away_is_listed_all_the_same(sqlite_service: Service) -> None:
    add_version(sqlite_service.wiring, "headless")
    gone = sqlite_service.http.delete("/v1/models/headless/aliases/champion", headers={"If-Match": "*"})
    assert gone.status_code == 204, gone.text
    for path, told in (("/ui/cases", "headless, version 1"), ("/ui/monitoring", "<td>–</td>")):
        answer = sqlite_service.http.get(path)
        assert answer.status_code == 200, path
        assert told in answer.text
