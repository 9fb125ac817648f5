"""Settings: environment variables that begin with COSTBOOST_, checked before anything starts."""

import difflib
import ipaddress
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url

from service.compute import PATTERN, check_trusted, refusal
from service.domain.training import MIN_MEMORY_MB

PREFIX = "COSTBOOST_"
#: Read by the command line and the Python client, not by the service.
CLIENT_VARIABLES = frozenset({"COSTBOOST_URL", "COSTBOOST_API_KEY"})

Seconds = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
#: MiB of an attempt; below, it would be over its limit before it has read a row.
Memory = Annotated[int, Field(ge=MIN_MEMORY_MB)]


class SettingsError(ValueError):
    """A variable is unknown or has a wrong value; the message is for the person who starts the service."""


class Settings(BaseSettings):
    """What can be chosen. A field `x` is read from COSTBOOST_X, a secret also from the file COSTBOOST_X_FILE.

    Built by the entry points only, through :func:`load_settings`.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="forbid", frozen=True)

    database_url: SecretStr = Field(
        SecretStr("sqlite:///data/costboost.db"), description="sqlite:///file or postgresql://…"
    )
    store_url: str = Field(
        "file:data/store",
        pattern=r"^(file:.|s3://[a-z0-9])",
        description="where artifacts are kept: file:///folder or s3://bucket/prefix",
    )
    compute_trusted: str = Field(
        "", description="hosts and private networks, by comma, where dask:// is taken without TLS"
    )
    compute_ca_file: str = Field("", description="PEM file of who signs the certificates of the cluster")
    compute_cert_file: str = Field("", description="PEM file of the certificate shown to the cluster")
    compute_key_file: str = Field("", description="PEM file of the key of that certificate")
    compute: str = Field(
        "local",
        pattern=PATTERN,
        description="where a job fits folds and trials and decides rows: local, dask://host:port, dask+tls://host:port",
    )
    host: str = Field("127.0.0.1", description="address the API listens on")
    port: int = Field(8000, ge=0, le=65535, description="port the API listens on; 0 takes a free one")
    auth: Literal["auto", "keys", "off"] = Field(
        "auto", description="`auto` needs API keys unless the address is a loopback one; `off` only there"
    )
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    workers: Count = Field(
        default_factory=lambda: max(1, (os.cpu_count() or 2) - 1),
        description="training jobs that one worker process runs at a time",
    )
    job_seconds: Seconds = Field(3600.0, description="time limit of an attempt that names none")
    max_job_seconds: Seconds = Field(86400.0, description="largest time limit a job may ask for")
    job_memory_mb: Memory = Field(4096, description="memory limit of an attempt that names none")
    max_job_memory_mb: Memory = Field(1 << 20, description="largest memory limit a job may ask for")
    max_worker_deaths: Count = Field(3, description="deaths of workers after which a job is failed")
    lease_seconds: Seconds = Field(15.0, description="silence after which a worker counts as dead")
    beat_seconds: Seconds = Field(2.0, description="how often a worker says that it lives")
    poll_seconds: Seconds = Field(0.2, description="how often an idle worker looks for a job")
    checkpoint_seconds: Seconds = Field(
        10.0, description="after so long an attempt stores what it has done, for the next one if it dies"
    )
    stop_seconds: Seconds = Field(30.0, description="time a stopping process gives to what is under way")

    max_upload_bytes: Count = 256 << 20
    max_rows: Count = 2_000_000
    max_columns: Count = 2_000
    max_decoded_bytes: Count = 1 << 30
    max_predict_rows: Count = 10_000
    max_predict_bytes: Count = 64 << 20
    intake_seconds: Seconds = Field(
        60.0, description="after so long the reading of an uploaded table is left to a worker"
    )
    intake_memory_mb: Count = Field(2048, description="memory limit for reading an uploaded table")

    max_requests_per_minute: int = Field(
        0, ge=0, description="requests of one API key a minute, of each API process; 0 sets no limit"
    )
    max_queued_jobs: Count = Field(1000, description="jobs of one tenant that may wait at a time")

    sweep_seconds: Seconds = Field(3600.0, description="how often what has had its time is deleted")
    webhook_allow: str = Field(
        "", description="hosts (name or name:port, by comma) webhooks may reach though they are not public"
    )

    database_pool: Count = Field(50, description="connections to PostgreSQL a process may hold at most")
    database_wait_seconds: Seconds = Field(5.0, description="wait for a free connection before a 503")

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: SecretStr) -> SecretStr:
        if not re.match(r"sqlite:///.|postgresql(\+psycopg)?://.", url.get_secret_value()):
            raise ValueError("must begin with sqlite:///file or postgresql://")
        return url

    @field_validator("compute_trusted")
    @classmethod
    def _private_networks(cls, trusted: str) -> str:
        check_trusted(trusted)
        return trusted

    @field_validator("compute")
    @classmethod
    def _not_in_the_open(cls, url: str, info: ValidationInfo) -> str:
        files = {
            name: info.data.get(name, "")
            for name in ("compute_ca_file", "compute_cert_file", "compute_key_file")
        }
        named = {PREFIX + name.upper(): path for name, path in files.items()}
        if (fault := refusal(url, info.data.get("compute_trusted", ""), named)) is not None:
            raise ValueError(fault)
        return url

    @field_validator("auth")
    @classmethod
    def _not_off_for_others(cls, auth: str, info: ValidationInfo) -> str:
        host = info.data.get("host", "")
        if auth == "off" and not is_loopback(host):
            raise ValueError(
                f"`off` is for loopback addresses, and {host} can be reached from other machines; "
                "leave it out, and make keys with `costboost keys create`"
            )
        return auth

    @property
    def needs_keys(self) -> bool:
        """Whether each request must bring an API key."""
        return self.auth == "keys" or (self.auth == "auto" and not is_loopback(self.host))

    def masked(self) -> dict[str, Any]:
        """All settings as plain values, without the password of the database."""
        url = make_url(self.database_url.get_secret_value())
        return self.model_dump() | {"database_url": url.render_as_string(hide_password=True)}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def load_settings(environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
    """Read and check the settings.

    Parameters
    ----------
    environ : mapping, optional
        The environment; the one of this process by default.
    **overrides
        Fields given on the command line; they win.

    Raises
    ------
    SettingsError
        A variable with our prefix is unknown, a value is wrong, or a secret's file cannot be read.
    """
    ours = {
        key.upper(): value
        for key, value in (os.environ if environ is None else environ).items()
        if key.upper().startswith(PREFIX) and key.upper() not in CLIENT_VARIABLES
    }
    values = _without_files(ours)
    _refuse_unknown(values)
    given = {key.removeprefix(PREFIX).lower(): value for key, value in values.items()}
    try:
        return Settings(**{**given, **{k: v for k, v in overrides.items() if v is not None}})
    except ValidationError as error:
        # The value itself may be a secret: only its name and what is wrong are told.
        faults = (f"{PREFIX}{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors())
        raise SettingsError("; ".join(faults)) from None


def _secret_names() -> set[str]:
    secrets = (name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)
    return {PREFIX + name.upper() for name in secrets}


def _without_files(values: Mapping[str, str]) -> dict[str, str]:
    """Replace each `…_FILE` of a secret by what the file holds."""
    result = dict(values)
    for name in _secret_names():
        path = result.pop(f"{name}_FILE", None)
        if path is None:
            continue
        if name in result:
            raise SettingsError(f"{name} and {name}_FILE are both set; keep one")
        try:
            result[name] = Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SettingsError(f"{name}_FILE: {path} cannot be read ({error.strerror})") from error
    return result


def _refuse_unknown(names: Iterable[str]) -> None:
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    for name in sorted(set(names) - set(known)):
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "; `costboost config` lists the known ones"
        raise SettingsError(f"unknown variable {name}{hint}")
