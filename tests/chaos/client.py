"""Clients that ask for jobs and send each request again, with its key, until it is answered."""

import random
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx2

from tests.chaos.ledger import Log
from tests.chaos.target import POISON

#: What may be sent again: conflicts end when a killed process' key is free, 503 when the database is back.
AGAIN = (409, 503)
CSV = {"Content-Type": "text/csv"}


class Client(threading.Thread):
    """Ask for jobs, one after the other.

    Parameters
    ----------
    url : str
        Of the API.
    csv : str
        The table that all jobs are for; clients that upload it together get one dataset.
    specs : dict of dict
        What is asked for, by key.
    per_second : float
        How many jobs are asked for in a second, about.
    """

    def __init__(
        self,
        url: str,
        csv: str,
        specs: Mapping[str, dict[str, Any]],
        *,
        per_second: float,
        log: Log,
        seed: int,
    ) -> None:
        super().__init__(name="client", daemon=True)
        self._url, self._csv, self._specs, self._log = url, csv, specs, log
        self._pause = 1.0 / per_second
        self._rng = random.Random(seed)
        self.stopping = threading.Event()

    def run(self) -> None:
        """Upload the table, ask for everything, and end."""
        with httpx2.Client(base_url=self._url, timeout=20.0) as http:
            sent = {"content": self._csv.encode(), "headers": CSV}
            dataset = self._surely(http, "dataset", "/v1/datasets", params={"name": "chaos"}, **sent)
            if dataset is None:
                return
            for key, spec in self._specs.items():
                ends = "failed" if spec["model"] == POISON else "succeeded"
                self._log.add("asked", key=key, ends=ends)
                job = self._surely(http, key, "/v1/training-jobs", json={**spec, "dataset": dataset["id"]})
                if job is not None:
                    self._log.add("accepted", key=key, job=job["id"])
                if self.stopping.wait(self._rng.expovariate(1.0) * self._pause):
                    return

    def _surely(self, http: httpx2.Client, key: str, path: str, **sent: Any) -> dict[str, Any] | None:
        headers = {**sent.pop("headers", {}), "Idempotency-Key": key}
        while not self.stopping.is_set():
            try:
                answer = http.post(path, headers=headers, **sent)
            except httpx2.TransportError as error:
                self._log.add("put off", key=key, why=type(error).__name__)
                time.sleep(0.2)
                continue
            if answer.is_success:
                return dict(answer.json())
            if answer.status_code not in AGAIN:
                self._log.add("refused", key=key, status=answer.status_code, body=answer.text)
                return None
            self._log.add("put off", key=key, why=answer.status_code)
            time.sleep(0.2)
        return None
