"""One project of docker-compose, and what can be asked of its containers."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class CommandError(Exception):
    """A command of Docker failed; the message ends with what it printed."""


class Compose:
    """One project of docker-compose, under a name of its own, so that no other on the machine is touched.

    Parameters
    ----------
    port : int
        Where the proxy listens, on a loopback address.
    **variables : str
        Those that docker-compose.yml reads, and docker-compose itself.
    """

    def __init__(self, port: int, **variables: str) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.project = f"costboost-test-{os.getpid()}"
        self._command = ["docker-compose"] if shutil.which("docker-compose") else ["docker", "compose"]
        self._environment = {
            **os.environ,
            "COMPOSE_PROJECT_NAME": self.project,
            "LISTEN": f"127.0.0.1:{port}",
            "TAG": "test",
            **variables,
        }

    def give(self, **variables: str) -> None:
        """Give variables from now on."""
        self._environment |= variables

    def __call__(self, *arguments: str) -> str:
        """Run a command of docker-compose and return what it prints."""
        return self._run([*self._command, *arguments])

    def docker(self, *arguments: str) -> str:
        """Run a command of docker and return what it prints."""
        return self._run(["docker", *arguments])

    def containers(self, service: str) -> list[str]:
        """Ids of the containers of a service that run."""
        found = self("ps", "-q", service).split()
        return [one for one in found if self.inspect(one)["State"]["Running"]]

    def inspect(self, container: str) -> dict[str, Any]:
        """All that Docker knows of a container."""
        known: dict[str, Any] = json.loads(self.docker("inspect", container))[0]
        return known

    def is_well(self, container: str) -> bool:
        """Whether a container passes its health check."""
        return bool(self.inspect(container)["State"]["Health"]["Status"] == "healthy")

    def begun(self, worker: str) -> set[str]:
        """Ids of the jobs that a worker has begun, by its log."""
        lines = [json.loads(line) for line in self.logs(worker).splitlines() if line.startswith("{")]
        return {line["job_id"] for line in lines if line["event"] == "attempt begins"}

    def logs(self, container: str) -> str:
        """What a container has logged."""
        done = subprocess.run(["docker", "logs", container], capture_output=True, text=True, check=True)
        return done.stdout + done.stderr

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=ROOT, env=self._environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
            raise CommandError(f"{' '.join(command)} ended with status {done.returncode}\n{last}")
        return done.stdout
