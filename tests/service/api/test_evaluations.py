"""How good a version is, over HTTP: figures and curves of versions that were trained for real."""

import re
from typing import Any

import pytest

from tests.service.conftest import Service, problem, table

MATRIX = {"classes": ["a", "b", "c"], "matrix": [[0, 1, 2], [5, 0, 1], [9, 3, 0]], "orientation": "rows_true"}
QUICK = {"n_estimators": 20}


@pytest.fixture(scope="module")
def judged(service: Service) -> str:
    """A model of two classes with costs per row."""
    costs = {"fn": {"per": {"amount": 1.0}}, "fp": 5}
    job = service.train("judged", table(500), costs, params=QUICK, options={"positive_class": "fraud"})
    assert job["status"] == "succeeded", job
    return "/v1/models/judged/versions/1"


@pytest.fixture(scope="module")
def of_three(service: Service) -> str:
    """A model of three classes."""
    csv = table(500, classes=("a", "b", "c")).replace(",d,", ",<i>d,")
    job = service.train("judged-three", csv, MATRIX, params=QUICK)
    assert job["status"] == "succeeded", job
    return "/v1/models/judged-three/versions/1"


def curves(service: Service, path: str, **query: str) -> dict[str, Any]:
    answer = service.http.get(f"{path}/curves", params=query)
    assert answer.status_code == 200, answer.text
    assert "immutable" in answer.headers["cache-control"]
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("part", ["test", "out_of_fold"])
def test_curves_agree_with_the_metrics(service: Service, judged: str, part: str) -> None:
    found = curves(service, judged, part=part)
    metrics = service.http.get(f"{judged}/evaluation").json()["metrics"]
    metrics = metrics if part == "test" else metrics["out_of_fold"]
    assert (found["part"], found["positive_class"], found["undefined"]) == (part, "fraud", {})
    roc, thresholds = found["roc"], found["thresholds"]
    steps = zip(roc["fpr"], roc["fpr"][1:], roc["tpr"], roc["tpr"][1:], strict=False)
    assert sum((b - a) * (y + z) / 2 for a, b, y, z in steps) == pytest.approx(metrics["roc_auc"], abs=0.02)
    whole = [sum(row) for row in zip(*(thresholds[name] for name in ("tp", "fp", "fn", "tn")), strict=True)]
    assert whole == pytest.approx([metrics["rows"]] * len(whole))
    assert min(thresholds["cost"]) <= metrics["baseline_cost"]
    assert sum(found["calibration"]["weight"]) == pytest.approx(metrics["rows"])
    for name in ("roc", "pr", "calibration", "cost", "net_benefit", "thresholds"):
        lengths = {len(column) for column in found[name].values()}
        assert len(lengths) == 1
        assert 1 <= lengths.pop() <= 512
    assert found["classes"] is None


def test_curves_of_three_classes_are_of_each_against_the_rest(service: Service, of_three: str) -> None:
    found = curves(service, of_three)
    assert (found["positive_class"], found["thresholds"], found["roc"]) == (None, None, None)
    assert [one["class"] for one in found["classes"]] == ["a", "b", "c"]
    assert all(one["roc"]["tpr"][-1] == 1.0 for one in found["classes"])


def test_curves_that_are_not_there(service: Service, judged: str) -> None:
    problem(service.http.get(f"{judged[:-1]}9/curves"), 404, "not_found")
    problem(service.http.get(f"{judged}/curves", params={"part": "train"}), 422, "invalid")
    problem(service.http.get(f"{judged}/curves", params={"page": "2"}), 400, "unknown_parameter")


def test_a_card_says_what_it_is_made_of_and_how_good_it_is(service: Service, judged: str) -> None:
    answer = service.http.get(f"{judged}/card")
    assert answer.status_code == 200, answer.text
    card = answer.json()
    assert (card["model"], card["version"], card["aliases"]) == ("judged", 1, ["champion"])
    assert card["data"]["rows"] == 500
    assert [one["name"] for one in card["data"]["columns"]] == ["amount", "hour", "merchant"]
    assert any("flag when p >" in sentence for sentence in card["costs"]["consequences"])
    figures, test = card["performance"]["figures"], card["performance"]["test"]
    for name in ("expected_cost", "recall", "precision", "specificity", "base_rate"):
        assert figures[name] == pytest.approx(test[name])
        low, high = figures[f"{name}_ci95"]
        assert low < figures[name] < high
    assert [one["rows"] for one in card["performance"]["by_class"]] == [sum(row) for row in test["confusion"]]
    assert {one["feature"] for one in card["explanation"]["importance"]} == {"amount", "hour", "merchant"}
    assert card["lineage"]["dataset_sha256"] == service.http.get(judged).json()["dataset_sha256"]
    assert any("rows of class fraud" in sentence for sentence in card["limits"])
    assert card["subgroups"] is None
    assert (card["training"]["calibration"], card["training"]["calibration_chosen"]) == ("auto", "sigmoid")


@pytest.mark.parametrize(("by", "groups"), [("merchant", 4), ("amount", 4)])
def test_groups_of_a_column_add_up(service: Service, judged: str, by: str, groups: int) -> None:
    card = service.http.get(f"{judged}/card", params={"by": by}).json()
    found = card["subgroups"]["groups"]
    assert len(found) == groups
    rows, figures = card["performance"]["test"]["rows"], card["performance"]["figures"]
    assert sum(one["rows"] for one in found) == rows
    total = sum(one["rows"] * one["expected_cost"] for one in found)
    assert total / rows == pytest.approx(figures["expected_cost"])


def test_a_card_is_a_page_for_who_wants_one(service: Service, judged: str, of_three: str) -> None:
    for path, by in ((judged, "hour"), (of_three, "merchant")):
        answer = service.http.get(
            f"{path}/card", params={"by": by}, headers={"Accept": "text/html, */*;q=0.1"}
        )
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["vary"] == "Accept"
        for heading in (
            "Limits",
            "Costs",
            "Performance",
            "Calibration of",
            f"By {by}",
            "What matters",
            "Lineage",
        ):
            assert heading in answer.text
        assert "<code>priors</code>" in answer.text
        assert "`" not in re.sub("<style>.*</style>", "", answer.text, flags=re.DOTALL)
        assert "<i>" not in answer.text
        assert ("&lt;i&gt;d" in answer.text) == (path == of_three)
    refused = service.http.get(f"{judged}/card", headers={"Accept": "application/pdf"})
    problem(refused, 406, "not_acceptable")


def test_columns_that_make_no_groups(service: Service, judged: str) -> None:
    for column in ("label", "absent"):
        found = problem(service.http.get(f"{judged}/card", params={"by": column}), 422, "invalid")
        assert found["errors"][0]["pointer"] == "/query/by"
