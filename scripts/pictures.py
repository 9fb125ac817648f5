"""Paint the pictures of the documentation anew, and say how long each page takes on the demo's data.

`make pictures` runs it: a service of its own, trained on the card payments of the demo. Each page is loaded
three times in Chromium, and the slowest counts, with all that the page asks for once it is shown. It fails
where one needs a second or 300 KB; with `--measure` it paints nothing.
"""

import json
import os
import shutil
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "demo"))

from http_api import Api  # noqa: E402
from running import running_service  # noqa: E402
from tables import CARD_FRAUD, COST_COLUMNS, features  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MOST_SECONDS, MOST_BYTES, LOADS = 1.0, 300_000, 3
#: Rows of each request that is decided and kept.
PART = 100
_VERSION = "/ui/models/card-fraud/versions/1"
_ENTRIES = "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
#: Until the last that a page fetches is there, also what it asks for once it is shown.
_TIMES = f"Math.max(...{_ENTRIES}.map((one) => Math.max(one.responseEnd, one.loadEventEnd ?? 0))) / 1000"
_SIZES = f"{_ENTRIES}.reduce((sum, one) => sum + one.decodedBodySize, 0)"


@dataclass(frozen=True)
class Stock:
    """What there is to look at."""

    dataset: str
    cost_spec: str
    job: str
    case: str

    @property
    def paths(self) -> Iterator[str]:
        """Every page that has something to show."""
        yield from ("/ui", "/ui/datasets", "/ui/datasets/new", f"/ui/datasets/{self.dataset}")
        yield from ("/ui/costs", "/ui/costs/new", f"/ui/costs/{self.cost_spec}")
        yield from ("/ui/trainings", "/ui/trainings/new", f"/ui/jobs/{self.job}")
        yield from ("/ui/models/card-fraud", _VERSION, f"{_VERSION}/decide", f"{_VERSION}/simulate")
        yield from (
            "/ui/models/card-fraud/compare?version=1&version=2",
            "/ui/cases",
            f"/ui/cases/{self.case}",
        )
        yield from ("/ui/monitoring", "/ui/monitoring/card-fraud", "/ui/keys", "/ui/webhooks")


def main() -> int:
    """Measure, and paint unless only a check is asked for."""
    with running_service() as url, _chromium() as browser:
        stock = _stocked(Api(url))
        page = _page(browser)
        too_much = [path for path in stock.paths if _is_too_much(page, url, path)]
        if "--measure" not in sys.argv[1:]:
            _paint(page, _page(browser, "dark"), url)
    return 1 if too_much else 0


def _stocked(api: Api) -> Stock:
    """Bring the table, train two versions, and decide and label the rows that were kept back."""
    roles = json.dumps(dict.fromkeys(COST_COLUMNS, "cost"))
    options = {"name": "card-fraud", "label": "label", "positive_class": "1", "roles": roles}
    dataset = api.upload(CARD_FRAUD.training_csv(), **options)
    body = {"name": "card-fraud", "currency": "EUR", "costs": CARD_FRAUD.costs}
    cost_spec = api._post("/v1/cost-specs", body)["id"]
    spec = {"model": "card-fraud", "dataset": dataset["id"], "cost_spec": cost_spec, "seed": 7}
    jobs = [
        api.train(algorithm=name, **spec, on_success={"record_rows": True}) for name in ("auto", "adacost")
    ]
    for job in jobs:
        for _ in api.watch(job):
            pass
    types = {one["name"]: one["type"] for one in dataset["columns"] if one["role"] == "feature"}
    rows, kept = CARD_FRAUD.held_out(), list[str]()
    for start in range(0, len(rows), PART):
        sent = [features(row, types) for row in rows[start : start + PART]]
        found = api.predict("card-fraud", 1, sent, record="durable")
        kept += [one["prediction_id"] for one in found]
    labels = [{"prediction_id": id_, "label": row["label"]} for id_, row in zip(kept, rows, strict=True)]
    api._post("/v1/feedback", {"items": labels[::2]})
    return Stock(dataset["id"], cost_spec, jobs[0], kept[0])


def _is_too_much(page: Page, url: str, path: str) -> bool:
    seconds, size = [], 0
    for _ in range(LOADS):
        answer = page.goto(url + path, wait_until="networkidle")
        if answer is None or not answer.ok:
            raise SystemExit(f"{path} cannot be shown")
        seconds.append(float(page.evaluate(_TIMES)))
        size = max(size, int(page.evaluate(_SIZES)))
    print(f"{max(seconds):6.3f} s {size / 1000:6.0f} KB  {urllib.parse.unquote(path)}")
    return max(seconds) > MOST_SECONDS or size > MOST_BYTES


def _paint(page: Page, dark: Page, url: str) -> None:
    """Paint the four pages that the documentation shows, one of them in the dark."""
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.goto(url + _VERSION, wait_until="networkidle")
    _save(page, "version")
    page.goto(f"{url}{_VERSION}/decide", wait_until="networkidle")
    page.get_by_label("Amount", exact=True).fill("310")
    page.get_by_label("Id of the row").fill("tx-17")
    page.get_by_role("button", name="Decide").click()
    page.get_by_text("What would turn it").or_(page.get_by_text("would turn the decision")).wait_for()
    page.mouse.move(0, 0)
    _save(page, "decide", whole=True)
    page.goto(f"{url}/ui/monitoring/card-fraud", wait_until="networkidle")
    page.get_by_role("heading", name="What has moved").evaluate("(one) => one.scrollIntoView()")
    _save(page, "monitoring")
    dark.goto(f"{url}/ui/costs/new", wait_until="networkidle")
    dark.get_by_label("Name").fill("card-fraud")
    dark.get_by_label("Currency").fill("EUR")
    missed, alarm = (
        dark.get_by_role("group", name=name) for name in ("A positive that is missed", "A false alarm")
    )
    missed.get_by_label("plus this column").fill("Amount")
    alarm.get_by_label("Fixed amount").fill("10")
    dark.get_by_text("flag when").first.wait_for()
    _save(dark, "costs-dark")


def _save(page: Page, name: str, *, whole: bool = False) -> None:
    page.screenshot(path=IMAGES / f"{name}.png", full_page=whole, animations="disabled")


@contextmanager
def _chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("TEST_CHROMIUM") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        yield browser
        browser.close()


def _page(browser: Browser, scheme: Any = "light") -> Page:
    return browser.new_page(color_scheme=scheme, viewport={"width": 1440, "height": 900})


if __name__ == "__main__":
    sys.exit(main())
