"""The few requests of the demo, with nothing but the standard library."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

REQUEST_SECONDS = 60.0
POLL_SECONDS = 0.2


class RefusedError(Exception):
    """The service answered with a problem, or a job failed; the message is for a person."""


class Api:
    """Requests to one service.

    Parameters
    ----------
    url : str
        Where it listens, without a slash at the end.
    key : str, optional
        An API key; a service on a loopback address needs none.
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        self.url = url
        self.headers = {} if key is None else {"Authorization": f"Bearer {key}"}

    def upload(self, csv: bytes, **options: str) -> dict[str, Any]:
        """Send a table; options as in `POST /v1/datasets`."""
        return self._send(f"/v1/datasets?{urllib.parse.urlencode(options)}", csv, "text/csv")

    def train(self, **spec: Any) -> str:
        """Ask for a training job and return its id."""
        job_id: str = self._post("/v1/training-jobs", spec)["id"]
        return job_id

    def watch(self, job_id: str) -> Iterator[dict[str, Any]]:
        """Yield the job again and again until it is done; raises if it did not succeed."""
        while True:
            job = self._send(f"/v1/training-jobs/{job_id}")
            yield job
            if job["done"]:
                break
            time.sleep(POLL_SECONDS)
        if job["status"] != "succeeded":
            raise RefusedError(f"training job {job_id} {job['status']}: {job.get('error')}")

    def predict(
        self, model: str, version: int, rows: list[dict[str, Any]], **more: Any
    ) -> list[dict[str, Any]]:
        """Predict rows with one version; more: costs, threshold, …"""
        body = {"version": version, "rows": rows, **more}
        predictions: list[dict[str, Any]] = self._post(f"/v1/models/{model}/predict", body)["predictions"]
        return predictions

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._send(path, json.dumps(body).encode(), "application/json")

    def _send(self, path: str, body: bytes | None = None, media_type: str | None = None) -> dict[str, Any]:
        headers = {"Content-Type": media_type} if media_type else {}
        request = urllib.request.Request(self.url + path, body, headers | self.headers)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as response:
                answer: dict[str, Any] = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            problem = error.read().decode(errors="replace")
            raise RefusedError(f"{request.get_method()} {path.partition('?')[0]}: {problem}") from error
