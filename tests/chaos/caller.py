"""A client that asks for the same prediction again and again, of replicas that come and go."""

import http.client
import json
import threading
from collections.abc import Sequence
from typing import Any

_HEADERS = {"Content-Type": "application/json", "Connection": "close"}


class Caller(threading.Thread):
    """Asks without pause, of the next replica where one does not listen.

    Each request has a connection of its own, as of many clients: what a replica has accepted it answers.

    Parameters
    ----------
    ports : sequence of int
        Of the replicas, the first to be asked first.
    rows : list of dict
        What is asked of the model `cards`.
    expected : list of dict
        The predictions.
    """

    def __init__(self, ports: Sequence[int], rows: Any, expected: Any) -> None:
        super().__init__(daemon=True)
        self._ports, self._body, self._expected = ports, json.dumps({"rows": rows}), expected
        self.stopping = threading.Event()
        self.answered = 0
        self.faults: list[str] = []

    def run(self) -> None:
        """Ask until it is told to stop."""
        while not self.stopping.is_set():
            try:
                status, text = self._ask()
            except (OSError, http.client.HTTPException) as error:
                self.faults.append(repr(error))
                continue
            if status != 200 or json.loads(text)["predictions"] != self._expected:
                self.faults.append(text.decode())
            self.answered += 1

    def _ask(self) -> tuple[int, bytes]:
        for port in (*self._ports, *self._ports):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.connect()
            except ConnectionRefusedError:
                continue
            try:
                connection.request("POST", "/v1/models/cards/predict", self._body, _HEADERS)
                answer = connection.getresponse()
                return answer.status, answer.read()
            finally:
                connection.close()
        raise ConnectionRefusedError("no replica listens")
