import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.service.conftest import Service

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "costboost.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
RUNBOOK = ROOT / "docs" / "runbook.md"


def test_livez_and_version(fresh_service: Service) -> None:
    assert fresh_service.http.get("/livez").json() == {"status": "ok"}
    assert fresh_service.http.get("/version").json()["version"]


def test_without_worker_it_is_degraded_but_ready(
    fresh_service: Service, wait_until: Callable[..., None]
) -> None:
    expected = {"status": "degraded", "database": True, "storage": True, "worker": False}

    def is_degraded() -> bool:
        answer = fresh_service.http.get("/readyz")
        return (answer.status_code, answer.json()) == (200, expected)

    wait_until(is_degraded)  # a look ends after a second, and a busy disk may need longer for one


def test_with_worker_it_is_ready(service: Service, wait_until) -> None:
    wait_until(lambda: service.http.get("/readyz").json()["status"] == "ready", 30.0)


def test_without_storage_it_is_unavailable(fresh_service: Service) -> None:
    folder = Path(urlsplit(fresh_service.settings.store_url).path)
    shutil.rmtree(folder)
    answer = fresh_service.http.get("/readyz")
    assert answer.status_code == 503
    assert "retry-after" in answer.headers
    assert answer.json()["storage"] is False


def test_an_older_schema_is_unavailable(fresh_service: Service) -> None:
    with fresh_service.wiring.database.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    answer = fresh_service.http.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] is False


def test_metrics_name_routes_not_paths(fresh_service: Service) -> None:
    fresh_service.http.get("/v1/models/secret-name")
    text = fresh_service.http.get("/metrics").text
    assert 'costboost_requests_total{method="GET",route="/v1/models/{model}",status="404"}' in text
    assert 'costboost_training_jobs{status="queued"} 0.0' in text
    assert 'costboost_batch_predictions{status="running"} 0.0' in text
    assert "costboost_request_seconds_bucket" in text
    for figure in (
        "resumed_training_jobs",
        "oldest_queued_job_seconds",
        "workers",
        "pending_deliveries",
        "waiting_records",
    ):
        assert f"\ncostboost_{figure} 0.0\n" in text
    assert "costboost_worker_heartbeat_age_seconds" not in text  # there is no worker
    assert "secret-name" not in text


def test_dashboard_and_alerts_ask_for_figures_that_there_are(fresh_service: Service) -> None:
    endings = {"counter": ("",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    types = re.findall(r"^# TYPE (\w+) (\w+)$", fresh_service.http.get("/metrics").text, re.MULTILINE)
    there = {name + ending for name, kind in types for ending in endings[kind]}
    # There only while a worker is.
    there.add("costboost_worker_heartbeat_age_seconds")
    panels = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    asked += [rule["expr"] for rule in group["rules"]]
    assert set(re.findall(r"costboost_\w+", " ".join(asked))) <= there


def test_each_alert_has_its_place_in_the_runbook() -> None:
    [group] = yaml.safe_load(ALERTS.read_text())["groups"]
    told = re.findall(r"^## (\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert told == [rule["alert"] for rule in group["rules"]]
