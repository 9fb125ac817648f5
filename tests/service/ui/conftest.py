"""A browser, and a service with one trained model for it to look at.

Chromium comes from `TEST_CHROMIUM`, else from this machine. Without one its tests are skipped, but fail where
`CI` is set; `make test` installs Debian's where it may.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from service.usecases import api_keys
from tests.service.conftest import NewDatabase, Service, running, settings_for, table

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
COSTS = {"fn": {"per": {"amount": 1.0}, "min": 15.0}, "fp": 10.0}
#: A slow machine takes its time.
PATIENCE = 60_000


@dataclass
class Shop:
    """A service with the model `shop` and what belongs to it."""

    service: Service
    dataset: str
    cost_spec: str
    job: str
    prediction: str
    faults: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return str(self.service.http.base_url).rstrip("/")


@pytest.fixture(scope="session")
def shop(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One service for all tests of pages; what a test adds has a name of its own."""
    settings = settings_for(new_database("sqlite"), tmp_path_factory.mktemp("shop"))
    with running(settings, with_worker=True) as service:
        yield stocked(service)


@pytest.fixture(scope="session")
def locked(new_database: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that needs keys."""
    settings = settings_for(new_database("sqlite"), tmp_path_factory.mktemp("locked"), auth="keys")
    with running(settings, with_worker=False, preload=()) as found:
        yield found


def key(service: Service, *scopes: str, tenant: str = "acme") -> str:
    return api_keys.create_key(service.wiring.sessions, tenant, "person", scopes, by="cli")[1]


def address(service: Service) -> str:
    return str(service.http.base_url).rstrip("/")


def stocked(service: Service) -> Shop:
    """Train two versions of a model, and record the decision of one row."""
    http = service.http
    dataset = service.upload(table(), name="payments")["id"]
    costs = http.post("/v1/cost-specs", json={"name": "payments", "currency": "EUR", **COSTS}).json()["id"]
    spec = {"model": "shop", "dataset": dataset, "cost_spec": costs, "algorithm": "cgada"}
    jobs = []
    for rounds in (20, 5):
        answer = http.post("/v1/training-jobs", json={**spec, "params": {"n_estimators": rounds}})
        jobs.append(service.wait(answer.json()["id"])["id"])
    changed = http.get("/v1/models/shop")
    http.patch("/v1/models/shop", json={"record_rows": True}, headers={"If-Match": changed.headers["etag"]})
    row = {"amount": 310.5, "hour": 12, "merchant": "a", "id": "tx-1"}
    found = service.predict("shop", [row], record="durable")[0]["prediction_id"]
    return Shop(service, dataset, costs, jobs[0], found)


def find_chromium() -> str:
    """Where the browser is."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("TEST_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        stop = pytest.fail if os.environ.get("CI") else pytest.skip
        stop("no Chromium: set TEST_CHROMIUM, or install Debian's package chromium")
    return found


# For one file at a time: as long as it is there, an event loop runs in the thread of all tests.
@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """A browser without a past."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=find_chromium(), args=ARGUMENTS, headless=True
        )
        context.set_default_timeout(PATIENCE)
        context.set_default_navigation_timeout(PATIENCE)
        yield context
        context.close()


@pytest.fixture
def page(browser: BrowserContext) -> Iterator[Page]:
    """A page whose scripts raise nothing and break no rule of the service."""
    found, faults = browser.new_page(), []
    found.set_viewport_size({"width": 1280, "height": 900})
    found.emulate_media(reduced_motion="reduce")  # colours change at once
    found.on("pageerror", lambda error: faults.append(str(error)))
    # That a form is refused, the browser tells on its console too.
    found.on(
        "console",
        lambda one: (
            faults.append(one.text) if one.type == "error" and "Failed to load" not in one.text else None
        ),
    )
    yield found
    found.close()
    browser.clear_cookies()
    assert faults == []


@pytest.fixture(scope="session")
def axe() -> Axe:
    return Axe()


@pytest.fixture
def sound(axe: Axe) -> Callable[[Page], None]:
    """Check that what is shown can be used by everybody, is narrow enough for a telephone, and is light."""

    def check(page: Page) -> None:
        for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)
            found = axe.run(page, options={"resultTypes": ["violations"], **options}).response["violations"]
            grave = [_told(one) for one in found if one["impact"] in ("serious", "critical")]
            assert grave == [], scheme
        page.emulate_media(color_scheme="light")
        for width in (375, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{page.url} is {wide} pixels wide in a window of {width}"

    return check


def _told(violation: dict[str, Any]) -> str:
    places = [f"{node['target']}: {node['failureSummary']}" for node in violation["nodes"][:3]]
    return re.sub(r"\s+", " ", f"{violation['id']}: {'; '.join(places)}")
