"""Signing in: a key opens what its tenant and scopes allow, and only our own pages can use it."""

from collections.abc import Callable

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.service.conftest import Service
from tests.service.ui.conftest import address, key


def test_a_key_opens_the_pages_until_one_signs_out(
    locked: Service, page: Page, sound: Callable[[Page], None]
) -> None:
    page.goto(f"{address(locked)}/ui/models/none")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    sound(page)
    page.get_by_label("API key").fill("cb_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    page.get_by_label("API key").fill(key(locked, "admin"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("No such model")
    assert page.url.endswith("/ui/models/none")
    cookie = next(one for one in page.context.cookies() if one["name"] == "costboost_key")
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/ui")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert not [one for one in page.context.cookies() if one["name"] == "costboost_key"]


def test_one_signs_in_again_with_a_key_that_is_known(locked: Service) -> None:
    form = {"key": key(locked, "predict")}
    for _ in range(2):
        answer = locked.http.post("/ui/sign-in", data=form, headers={"Origin": address(locked)})
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui")


def test_scopes_hold_as_in_the_api(locked: Service) -> None:
    cookie = {"Cookie": f"costboost_key={key(locked, 'feedback')}"}
    answer = locked.http.get("/ui", headers=cookie)
    assert answer.status_code == 403
    assert "this needs a key with the scope" in answer.text.lower()
    assert locked.http.get("/ui/keys", headers=cookie).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "cross-site"}]
    + [{"Origin": one} for one in ("https://evil.example", "null", "http://[bad", "http://[::1")],
)
def test_another_site_can_change_nothing(locked: Service, headers: dict[str, str]) -> None:
    sent = {**headers, "Cookie": f"costboost_key={key(locked, 'admin')}"}
    answer = locked.http.post("/ui/models/m/versions/1/champion", data={"reason": "x"}, headers=sent)
    assert answer.status_code == 403
    assert "foreign_origin" in answer.text


@pytest.mark.parametrize(
    "next", ["https://evil.example", "//evil.example", "/ui/../v1", "/uix", "/ui/\\evil"]
)
def test_after_signing_in_one_stays_here(locked: Service, next: str) -> None:
    own = {"Origin": address(locked)}
    answer = locked.http.post(
        "/ui/sign-in", data={"key": key(locked, "admin"), "next": next}, headers=own, follow_redirects=False
    )
    assert answer.status_code == 303
    assert httpx2.URL(answer.headers["location"]).path.startswith("/ui")
    assert "evil" not in answer.headers["location"].partition("/ui")[0]


def test_an_address_in_any_script_can_be_led_to(locked: Service) -> None:
    own = {"Origin": address(locked), "HX-Request": "true"}
    answer = locked.http.post(
        "/ui/sign-in", data={"key": key(locked, "admin"), "next": "/ui/costs/\u540d\nX: y"}, headers=own
    )
    assert answer.status_code == 200
    assert answer.headers["hx-redirect"] == "/ui/costs/%E5%90%8D%0AX:%20y"


def test_every_page_says_where_its_parts_may_come_from(locked: Service) -> None:
    answer = locked.http.get("/ui/sign-in")
    rules = answer.headers["content-security-policy"]
    assert "default-src 'self'" in rules
    assert "unsafe" not in rules
    assert "<style" not in answer.text
    assert " style=" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
