"""What docker-compose would start, as far as files can tell; `make compose-test` starts it."""

import re
import ssl
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.domain.problems.registry import PROBLEMS
from service.settings import PREFIX, Settings, load_settings
from service.wiring import open_store

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
STORES = DEPLOY / "store"
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
NETWORKS: dict[str, dict[str, Any]] = COMPOSE["networks"]
TLS = {"ca-file": "CA", "cert": "CERT", "key": "KEY"}
NGINX = (DEPLOY / "nginx" / "nginx.conf").read_text()


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_is_confined(name: str) -> None:
    one = SERVICES[name]
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert one["read_only"] is True
    assert name == "postgres" or "cap_add" not in one


def test_only_the_proxy_and_the_figures_are_published_and_to_this_machine_alone() -> None:
    ports = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert ports.keys() == {"proxy", "grafana"}
    assert all(
        re.match(r"\$\{\w+:-127\.0\.0\.1:", port) for published in ports.values() for port in published
    )


def test_settings_that_are_given_are_known() -> None:
    known = {PREFIX + field.upper() for field in Settings.model_fields} | {f"{PREFIX}DATABASE_URL_FILE"}
    given = {name for one in SERVICES.values() for name in one.get("environment", ()) if PREFIX in name}
    of_stores = {name for path in STORES.iterdir() for name in variables(path.name) if PREFIX in name}
    assert given
    assert of_stores == {f"{PREFIX}STORE_URL"}
    assert given | of_stores <= known


def test_what_stores_rows_and_models_reads_the_same_file_of_the_store() -> None:
    for name in ("migrate", "api", "worker", "demo", "monitoring-secrets"):
        assert SERVICES[name]["env_file"] == ["${STORE_ENV:-deploy/store/folder.env}"]
        assert f"{PREFIX}STORE_URL" not in SERVICES[name].get("environment", ())
    assert variables("folder.env")[f"{PREFIX}STORE_URL"].startswith(f"file://{store_volume('api')}/")


def store_volume(name: str) -> str:
    return next(one.split(":")[1] for one in SERVICES[name]["volumes"] if one.startswith("store:"))


def variables(file: str) -> dict[str, str]:
    """What an env file gives, read as docker-compose reads it."""
    lines = (STORES / file).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if not line.startswith("#"))


def test_the_profile_s3_is_a_bucket_that_the_service_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    given = variables("s3.env")
    assert SERVICES["s3"]["profiles"] == ["s3"]
    assert given["AWS_ENDPOINT_URL"] == "http://s3:5000"
    assert set(SERVICES["s3"]["networks"]) & set(SERVICES["api"]["networks"]) == {"database"}
    command = [sys.executable, str(DEPLOY / "s3" / "server.py"), "--host=127.0.0.1", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().split()[-1]
            for name, value in given.items():
                monkeypatch.setenv(name, value.replace("s3:5000", f"127.0.0.1:{port}"))
            store = open_store(given[f"{PREFIX}STORE_URL"])
            assert store.writable()
            assert store.read(store.put(b"bytes")) == b"bytes"
            server.terminate()
            assert server.wait(60) == 0
        finally:
            server.kill()


def test_one_container_migrates_before_any_other_asks_for_the_schema() -> None:
    assert SERVICES["migrate"]["command"] == ["costboost", "migrate"]
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in ("api", "worker"):
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_a_cluster_is_reached_by_workers_alone_and_holds_no_secrets() -> None:
    cluster = {name: one for name, one in SERVICES.items() if one.get("profiles") == ["cluster"]}
    assert cluster.keys() == {"dask-scheduler", "dask-worker"}
    for one in cluster.values():
        assert one["image"] == SERVICES["worker"]["image"]
        assert (one["networks"], one["volumes"]) == (["compute"], ["cluster:/etc/costboost/cluster:ro"])
        assert (one["env_file"], one["environment"]) == ([], {})
    assert NETWORKS["compute"]["internal"] is True
    inside = {name for name, one in SERVICES.items() if "compute" in one.get("networks", ())}
    assert inside == {"worker", *cluster}


def test_a_worker_takes_the_address_of_the_cluster_and_all_show_one_certificate(tmp_path: Path) -> None:
    given = SERVICES["worker"]["environment"]
    make_secrets(tmp_path)
    here = str(tmp_path / "cluster")
    names = {name: value for name, value in given.items() if name.startswith("COSTBOOST_COMPUTE_")}
    files = {name: value.replace("/etc/costboost/cluster", here) for name, value in names.items()}
    port = next(one for one in SERVICES["dask-scheduler"]["command"] if one.startswith("--port=")).split("=")[
        1
    ]
    assert load_settings(files | {"COSTBOOST_COMPUTE": f"dask+tls://dask-scheduler:{port}"})
    options = {f"--tls-{kind}={names[f'COSTBOOST_COMPUTE_{name}_FILE']}" for kind, name in TLS.items()}
    assert all(options <= set(SERVICES[name]["command"]) for name in ("dask-scheduler", "dask-worker"))
    assert given["COSTBOOST_COMPUTE"] == "${COMPUTE:-local}"


def test_stopping_is_given_longer_than_it_takes() -> None:
    default = Settings.model_fields["stop_seconds"].default
    for name in ("api", "worker", "proxy"):
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > default


def test_connections_of_a_fleet_fit_into_the_database() -> None:
    pool = SERVICES["api"]["environment"]["COSTBOOST_DATABASE_POOL"]
    largest = int(re.search(r"max_connections=(\d+)", " ".join(SERVICES["postgres"]["command"]))[1])
    assert 10 * pool < largest


def test_the_proxy_refuses_in_words_of_the_contract() -> None:
    codes = re.findall(r'"type":"/problems/(\w+)","code":"(\w+)"', NGINX)
    assert len(codes) == NGINX.count("return ")
    assert all(kind == code and code in PROBLEMS for kind, code in codes)


def test_the_proxy_lets_pass_what_the_service_takes() -> None:
    megabytes = int(re.search(r"client_max_body_size (\d+)m;", NGINX)[1])
    assert megabytes << 20 > Settings.model_fields["max_upload_bytes"].default


def make_secrets(folder: Path) -> dict[str, str]:
    folders = [folder / "secrets", folder / "cluster"]
    for one in folders:
        one.mkdir(exist_ok=True)
    subprocess.run([sys.executable, DEPLOY / "make_secrets.py", *folders], check=True, timeout=60)
    return {path.name: path.read_text() for one in folders for path in one.iterdir()}


def test_secrets_are_made_once_and_fit_together(tmp_path: Path) -> None:
    first = make_secrets(tmp_path)
    assert make_secrets(tmp_path) == first
    assert f":{first['postgres_password']}@postgres/" in first["database_url"]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*_*")}
    assert modes == {"postgres_password": 0o444, "database_url": 0o444}
    assert stat.S_IMODE((tmp_path / "cluster" / "key.pem").stat().st_mode) == 0o600
    one = ssl.create_default_context(cafile=tmp_path / "cluster" / "certificate.pem")
    one.load_cert_chain(tmp_path / "cluster" / "certificate.pem", tmp_path / "cluster" / "key.pem")
