"""From an empty service to a first decision in money, by the pages alone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from service.ui.rendering import cash, number
from tests.service.conftest import problem, table
from tests.service.listener import listening
from tests.service.ui.conftest import Shop, address, key

Sound = Callable[[Page], None]


def test_a_table_is_brought_and_looked_at(shop: Shop, page: Page, sound: Sound, tmp_path: Path) -> None:
    file = tmp_path / "september.csv"
    file.write_text(table(300, seed=1))
    page.goto(f"{shop.address}/ui/datasets")
    page.get_by_role("button", name="Bring a table").click()
    sound(page)
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_label("Name", exact=True)).to_have_value("september")
    expect(page.locator("#header option")).to_have_count(4)
    expect(page.get_by_label("Column of the label")).not_to_have_attribute("required", "")
    page.get_by_role("button", name="Bring it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("september")
    expect(page.locator("figure.chart canvas")).to_have_count(3)
    expect(page.get_by_role("region", name="Columns")).to_contain_text("merchant")
    sound(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete this table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")
    problem(shop.service.http.get("/v1/datasets/september"), 404, "not_found")


def test_a_table_with_faults_is_refused_with_their_lines(shop: Shop, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "broken.csv"
    file.write_text("amount,cost_fn,outcome\n1,9,a\n2\n3,9,b\n")
    page.goto(f"{shop.address}/ui/datasets/new")
    page.get_by_label("File").set_input_files(file)
    expect(page.get_by_label("For costs only")).to_have_value("cost_fn")
    expect(page.get_by_label("Column of the label")).to_have_attribute("required", "")
    page.get_by_label("Column of the label").fill("outcome")
    page.get_by_role("button", name="Bring it").click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("line 3")
    expect(alert).to_contain_text("What to do")
    expect(alert).to_be_focused()


def test_columns_of_costs_are_proposed_as_they_are_called(shop: Shop, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "quoted.csv"
    file.write_text(
        '"x,cost_y","cost_a, ""net""",cost_z ,label\n' + "".join(f"{i},2,3,{i % 2}\n" for i in range(30))
    )
    page.goto(f"{shop.address}/ui/datasets/new")
    page.get_by_label("File").set_input_files(file)
    expect(page.locator("#header option")).to_have_count(4)
    expect(page.get_by_label("For costs only")).to_have_value('"cost_a, ""net""", "cost_z "')
    page.get_by_role("button", name="Bring it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("quoted")
    columns = shop.service.http.get("/v1/datasets/quoted").json()["columns"]
    assert [one["role"] for one in columns] == ["feature", "cost", "cost", "label"]


def test_costs_say_what_they_imply_while_they_are_typed(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/costs/new")
    words = page.get_by_role("complementary")
    missed = page.get_by_role("group", name="A positive that is missed")
    alarm = page.get_by_role("group", name="A false alarm")
    missed.get_by_label("Fixed amount").press_sequentially("500")
    expect(words).to_contain_text("fp")
    alarm.get_by_label("Fixed amount").press_sequentially("10")
    told = shop.service.http.post("/v1/cost-specs/validate", json={"fn": 500, "fp": 10}).json()[
        "consequences"
    ]
    expect(words).to_contain_text(told[0])
    expect(words).to_contain_text("A missed positive costs as much as 50.00 false alarms")
    expect(words).not_to_contain_text("swapped")
    alarm.get_by_label("Fixed amount").fill("600")
    expect(words).to_contain_text("Are the two mistakes swapped?")
    alarm.get_by_label("Fixed amount").fill("-600")
    expect(words).not_to_contain_text(told[0])
    expect(words.get_by_text("✕").or_(words.locator(".warned"))).to_be_visible()
    alarm.get_by_label("Fixed amount").fill("10")
    page.get_by_label("For the table").select_option(shop.dataset)
    missed.get_by_label("plus this column").fill("merchant")
    expect(words).to_contain_text("this column is a category")
    missed.get_by_label("plus this column").fill("Amuont")
    expect(words).to_contain_text("did you mean amount?")
    page.get_by_label("Name").fill("typed")
    page.get_by_role("button", name="Keep them").click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean amount?")
    missed.get_by_label("plus this column").fill("amount")
    expect(words).to_contain_text("at amount 20")
    sound(page)
    page.get_by_label("Currency").fill("chf")
    page.get_by_role("button", name="Keep them").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("typed, revision 1")
    missed_costs = page.get_by_role("row", name="a positive that is missed")
    expect(missed_costs).to_contain_text(re.compile(r"CHF\W500.00 \+ amount"))
    kept = shop.service.http.get("/v1/cost-specs/typed").json()
    assert kept["currency"] == "CHF"
    assert (kept["costs"]["fn"]["fixed"], kept["costs"]["fn"]["per"]) == (500.0, {"amount": 1.0})
    sound(page)
    page.goto(f"{shop.address}/ui/costs")
    expect(page.get_by_role("link", name="typed")).to_be_visible()


def test_a_training_is_asked_for_watched_and_looked_at(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/trainings/new?dataset=payments&cost_spec=payments")
    algorithm = page.get_by_role("combobox", name="Algorithm")
    expect(algorithm.locator("option", has_text="CGAda")).to_be_attached()
    page.get_by_role("textbox", name="Model").fill("asked")
    algorithm.select_option("cgada")
    page.get_by_text("Parameters of the algorithm").click()
    rounds = page.get_by_label(re.compile("^n estimators"))
    rounds.fill("0")
    sound(page)
    page.get_by_role("button", name="Train", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("n_estimators")
    rounds.fill("")
    page.get_by_text("Search for parameters").click()
    page.get_by_label("Parameters to try").fill('{"n_estimators": [3, 7]')
    page.get_by_role("button", name="Only check").click()
    expect(page.get_by_role("alert")).to_contain_text("search › params")
    page.get_by_label("Parameters to try").fill('{"n_estimators": [3, 7]}')
    page.get_by_role("button", name="Only check").click()
    expect(page.get_by_text("This would be trained")).to_be_visible()
    expect(page.locator("#problems")).to_contain_text("after a search of 2 trials")
    expect(page.locator("#problems")).to_contain_text("computed from amount, of which it learns too")
    page.get_by_label("Keep the rows").check()
    page.get_by_role("button", name="Train", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Training of asked")
    expect(page.locator("#trials canvas")).to_be_visible()
    best = page.get_by_role("region", name="Trials").get_by_role("row").nth(1)
    expect(best).to_contain_text("the best")
    expect(page.locator("main")).to_contain_text("payments, revision 1")
    sound(page)
    found = shop.service.http.get("/v1/training-jobs?model=asked").json()["data"][0]["result"]
    cheapest = min(found["search"]["trials"], key=lambda one: one["cost"])
    expect(best).to_contain_text(f"n estimators {cheapest['params']['n_estimators']}")
    expect(best).to_contain_text(cash(cheapest["cost"]))
    page.get_by_role("button", name="To version 1").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Version 1")
    version = shop.service.http.get("/v1/models/asked/versions/1").json()
    assert version["params"]["n_estimators"] == cheapest["params"]["n_estimators"]
    assert shop.service.http.get("/v1/models/asked").json()["record_rows"] is True


def test_what_is_kept_of_decisions_is_said_on_the_page_of_the_model(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.address}/ui/models/shop")
    page.get_by_text("Settings of shop").click()
    page.get_by_label("Control share").fill("0,02")
    page.get_by_role("button", name="Keep these settings").click()
    expect(page.get_by_role("alert")).to_contain_text("control_share: must be a number")
    page.get_by_label("Control share").fill("")
    page.get_by_label("Days that decisions are kept").fill("30")
    page.get_by_label("Challenger").fill("nobody")
    page.get_by_role("button", name="Keep these settings").press("Enter")
    expect(page.get_by_text("each with its row, for 30 days")).to_be_visible()
    expect(page.get_by_text("there is no alias nobody")).to_be_visible()
    path = "/v1/models/shop"
    assert shop.service.http.get(path).json()["retention_days"] == 30
    shop.service.http.patch(path, json={"shadow_alias": None}, headers={"If-Match": "*"})


def test_a_training_draws_its_rounds_and_can_be_ended(shop: Shop, page: Page, sound: Sound) -> None:
    params = {"n_estimators": 10_000, "early_stopping": 10_000}
    spec = {"model": "ended", "dataset": shop.dataset, "cost_spec": shop.cost_spec, "algorithm": "adacost"}
    job = shop.service.http.post("/v1/training-jobs", json={**spec, "params": params}).json()["id"]
    page.goto(f"{shop.address}/ui/jobs/{job}")
    expect(page.locator("#rounds-error canvas")).to_be_visible()
    cost = page.locator("#rounds-valid_expected_cost")
    cost.get_by_text("Numbers as a table").click()
    expect(cost.locator(".scroll tbody tr").nth(1).locator("td").nth(1)).to_contain_text("EUR")
    sound(page)
    page.get_by_role("button", name="End this training").click()
    expect(page.get_by_text("It was ended on request")).to_be_visible()
    sound(page)


def test_other_costs_are_tried_and_kept(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/models/shop/versions/1/simulate")
    page.get_by_text("Other costs").click()
    page.get_by_role("group", name="A positive that is missed").get_by_label("Fixed amount").fill("40")
    page.get_by_role("group", name="A false alarm").get_by_label("Fixed amount").fill("8")
    page.get_by_label("fraud", exact=True).fill("0.1")
    page.get_by_role("button", name="Work it out").press("Enter")
    found = shop.service.http.post(
        "/v1/models/shop/versions/1/simulations",
        json={"costs": {"fn": 40, "fp": 8}, "priors": {"fraud": 0.1}},
    ).json()
    outcome = page.get_by_role("region", name="Outcome")
    expect(outcome).to_contain_text(f"{found['optimum']['cost']:,.2f}")
    expect(outcome).to_contain_text(f"{found['saved']['cost']:,.2f}")
    sound(page)
    page.get_by_label("Keep these costs as").fill("tried")
    page.get_by_role("button", name="Keep them").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tried, revision 1")
    assert shop.service.http.get("/v1/cost-specs/tried").json()["costs"]["fn"] == 40


def test_a_case_is_explained_in_log_odds_and_money(shop: Shop, page: Page, sound: Sound) -> None:
    record = shop.service.http.get(f"/v1/predictions/{shop.prediction}").json()
    page.goto(f"{shop.address}/ui/cases")
    expect(page.get_by_role("region", name="The newest cases")).to_contain_text("tx-1")
    sound(page)
    page.get_by_label("Id of a decision").fill(shop.prediction)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Decided: “{record['decision']}”")
    decision = page.get_by_label("Decision", exact=True)
    expect(decision).to_contain_text(f"{record['expected_cost']['legit']:,.2f}")
    row = {**record["row"]}
    told = shop.service.predict("shop", [row], explain={}, version=1)[0]
    for reason in filter(lambda one: one["contribution"], told["reasons"]):
        line = (
            page.get_by_role("region", name="Reasons").get_by_role("row").filter(has_text=reason["feature"])
        )
        expect(line.first).to_be_visible()
    sound(page)


def test_what_would_turn_a_decision_turns_it(shop: Shop, page: Page) -> None:
    record = shop.service.http.get(f"/v1/predictions/{shop.prediction}").json()
    page.goto(f"{shop.address}/ui/cases/{shop.prediction}")
    turns = page.locator(".turns li").all_inner_texts()
    assert turns
    for told in turns:
        name, side, bound, decision = re.match(
            r"With (\S+) (below|above) ([\d,.-]+), .* be “(\w+)”", told
        ).groups()  # type: ignore[union-attr]
        at = float(bound.replace(",", ""))
        beyond = at - 0.02 * abs(at) if side == "below" else at + 0.02 * abs(at)
        after = shop.service.predict("shop", [{**record["row"], name: beyond}], version=1)[0]
        assert after["decision"] == decision != record["decision"]


def test_a_row_is_decided_by_hand(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/models/shop/versions/1/decide")
    page.get_by_label("amount").fill("900")
    page.get_by_label("merchant").fill("d")
    page.get_by_label("Keep this decision").check()
    sent = []
    page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)
    page.get_by_role("button", name="Decide").dblclick()
    expect(page.get_by_text("Kept as case")).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"At amount 900\.00 it is positive above .*; at what is typical, amount"))
    ).to_be_visible()
    assert len(sent) == 1
    sound(page)
    page.get_by_role("link", name="case pred_").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Decided")


def test_versions_are_compared_row_by_row(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/models/shop")
    page.get_by_role("button", name="Compare").click()
    both = [shop.service.http.get(f"/v1/models/shop/versions/{n}").json()["metrics"] for n in (2, 1)]
    difference = both[1]["expected_cost"] - both[0]["expected_cost"]
    line = page.get_by_role("region", name="Differences").get_by_role("row").nth(2)
    shown = line.locator("td").nth(3).inner_text().replace("EUR", "").strip()
    assert float(shown) == pytest.approx(difference, abs=0.01)
    sound(page)


def test_realised_cost_stands_beside_expected_cost(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/cases/{shop.prediction}")
    page.get_by_role("combobox", name="True class").select_option("fraud")
    page.get_by_role("button", name="Say it").press("Enter")
    expect(page.get_by_text("Kept: it turned out")).to_be_visible()
    page.reload()
    expect(page.get_by_text("It turned out to be “fraud”")).to_be_visible()
    expect(page.get_by_role("button", name="Correct it")).to_be_visible()
    page.goto(f"{shop.address}/ui/monitoring")
    sound(page)
    page.get_by_role("link", name="shop", exact=True).click()
    found = shop.service.http.get("/v1/models/shop/performance").json()["versions"][-1]["total"]
    assert found["labelled"] == 1
    expect(page.locator("main")).to_contain_text(f"{found['expected_cost']:,.2f}")
    page.get_by_role("combobox", name="By").select_option("day")
    page.get_by_role("button", name="Show").press("Enter")
    expect(page.locator("figure.chart canvas").first).to_be_visible()
    moved = page.get_by_role("region", name="What has moved, version 1")
    inputs = shop.service.http.get("/v1/models/shop/performance?drift=true").json()["versions"][-1]["drift"]
    for one in inputs["inputs"]:
        expect(moved.get_by_role("row").filter(has_text=one["name"]).first).to_contain_text(
            number(one["drift"]["psi"])
        )
    expect(page.locator("#drift-1-1 canvas")).to_be_visible()
    expect(page.locator("#reliability-1-0 canvas")).to_be_visible()
    sound(page)


def test_a_webhook_is_made_told_and_deleted(
    shop: Shop, page: Page, sound: Sound, wait_until: Callable[..., None]
) -> None:
    page.goto(f"{shop.address}/ui/webhooks")
    page.get_by_label("Address").fill("https://10.0.0.1/")
    page.get_by_role("button", name="Make a webhook").click()
    expect(page.get_by_role("alert")).to_contain_text("url: must be an address that everybody can reach")
    with listening() as listener:
        page.get_by_label("Address").fill(listener.url)
        page.get_by_label("a training ended").uncheck()
        page.get_by_role("button", name="Make a webhook").press("Enter")
        secret = page.locator("#made pre code").inner_text()
        assert secret.startswith("whsec_")
        sound(page)
        page.get_by_role("link", name="I have it").click()
        expect(page.locator("main")).not_to_contain_text(secret)
        expect(page.get_by_text("Nothing was posted yet")).to_be_visible()
        made = shop.service.http.get("/v1/webhooks").json()["data"][0]
        assert made["events"] == ["alias.changed", "batch_prediction.finished", "intake_job.finished"]
        shop.service.http.put("/v1/models/shop/aliases/told", json={"version": 1})
        path = f"/v1/webhooks/{made['id']}/deliveries"
        wait_until(lambda: shop.service.http.get(path).json()["data"][0]["status"] == "delivered")
    page.reload()
    deliveries = page.get_by_role("region", name="Deliveries")
    expect(deliveries).to_contain_text("an alias moved")
    expect(deliveries).to_contain_text("delivered")
    sound(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete this webhook").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks")
    assert shop.service.http.get("/v1/webhooks").json()["data"] == []


def test_a_key_is_made_shown_once_and_revoked(shop: Shop, page: Page, sound: Sound) -> None:
    page.goto(f"{shop.address}/ui/keys")
    page.get_by_label("Name").fill("checkout")
    page.get_by_label("predict: decide rows").check()
    page.get_by_role("button", name="Make a key").click()
    token = page.locator("#made code").inner_text()
    bearer = {"Authorization": f"Bearer {token}"}
    assert shop.service.http.get("/v1/models", headers=bearer).status_code == 200
    page.get_by_role("link", name="I have it").click()
    expect(page.locator("main")).not_to_contain_text(token)
    expect(page.get_by_role("region", name="Audit log")).to_contain_text("api_key.create")
    sound(page)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke checkout").press("Enter")
    expect(page.get_by_role("region", name="Keys")).to_contain_text("revoked")
    assert shop.service.http.get("/v1/models", headers=bearer).status_code == 401


def test_tenants_do_not_see_one_another(shop: Shop) -> None:
    http = shop.service.http
    foreign = {"Cookie": f"costboost_key={key(shop.service, 'admin', tenant='other')}"}
    for path in (
        "models/shop",
        "models/shop/versions/1",
        "models/shop/versions/1/decide",
        "models/shop/versions/1/simulate",
        "models/shop/compare?version=1&version=2",
        "monitoring/shop",
        "monitoring/shop/drift",
        f"datasets/{shop.dataset}",
        f"datasets/{shop.dataset}/profile",
        f"costs/{shop.cost_spec}",
        f"jobs/{shop.job}",
        f"jobs/{shop.job}/events",
        f"cases/{shop.prediction}",
    ):
        assert http.get(f"/ui/{path}", headers={"Cookie": ""}).status_code == 200, path
        assert http.get(f"/ui/{path}", headers=foreign).status_code == 404, path
    own = {**foreign, "Origin": address(shop.service)}
    for path in (
        f"jobs/{shop.job}/cancel",
        f"datasets/{shop.dataset}/delete",
        "models/shop/versions/1/champion",
    ):
        assert http.post(f"/ui/{path}", headers=own).status_code == 404, path


def test_nothing_can_be_typed_into_parameters_that_are_about_to_go(shop: Shop, page: Page) -> None:
    page.goto(f"{shop.address}/ui/trainings/new?dataset=payments&cost_spec=payments")
    page.get_by_text("Parameters of the algorithm").click()
    rounds = page.get_by_label(re.compile("^n estimators"))
    expect(rounds).to_be_enabled()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/ui/trainings/params?algorithm=cgada", hold)
    page.get_by_role("combobox", name="Algorithm").select_option("cgada")
    expect(rounds).to_be_disabled()
    held[0].continue_()
    expect(rounds).to_be_enabled()
    expect(page.locator("#params")).to_contain_text("CGAda")
