"""Models, their versions and aliases."""

import json
from pathlib import Path
from typing import Any

from costboost.client.asking import Asking, given, path
from costboost.client.exchange import Listing, Plan, Request, keyed, listing, operation
from costboost.client.results import Alias, Model, Version


class RegistryOperations(Asking):
    """What has been trained, and which of it answers."""

    @listing
    def models(self) -> Listing[Model]:
        """All models, newest first."""
        return Listing(path("models"), Model.of)

    @operation
    def model(self, name: str) -> Plan[Model]:
        """One, by its name."""
        return Model.of((yield from self._read(path("models", name))))

    @operation
    def change_model(self, /, name: str, **changes: Any) -> Plan[Model]:
        """Change `description`, `tags`, `record_rows`, `retention_days`, `control_share` and the like."""
        answer = yield from self._change("PATCH", path("models", name), json.dumps(changes).encode())
        return Model.of(answer.json())

    @operation
    def delete_model(self, name: str) -> Plan[None]:
        """Remove a model with all its versions."""
        yield from self._change("DELETE", path("models", name))

    @listing
    def versions(self, model: str) -> Listing[Version]:
        """The versions of a model, newest first."""
        return Listing(path("models", model, "versions"), Version.of)

    @operation
    def version(self, model: str, version: int) -> Plan[Version]:
        """One version: data, costs, parameters and metrics."""
        return Version.of((yield from self._read(path("models", model, "versions", version))))

    @operation
    def delete_version(self, model: str, version: int) -> Plan[None]:
        """Remove a version that no alias points to."""
        yield from self._ask(Request("DELETE", path("models", model, "versions", version), repeatable=False))

    @operation
    def schema(self, model: str, version: int) -> Plan[dict[str, Any]]:
        """The columns that a row must have, with an example."""
        return (yield from self._read(path("models", model, "versions", version, "schema")))

    @operation
    def evaluation(self, model: str, version: int) -> Plan[dict[str, Any]]:
        """Metrics on the test part and out of fold."""
        return (yield from self._read(path("models", model, "versions", version, "evaluation")))

    @operation
    def curves(self, model: str, version: int, *, part: str | None = None) -> Plan[dict[str, Any]]:
        """ROC, calibration, cost and so on as numbers; `part="out_of_fold"` has the training rows."""
        return (yield from self._read(path("models", model, "versions", version, "curves"), part=part))

    @operation
    def card(self, model: str, version: int, *, by: str | None = None) -> Plan[dict[str, Any]]:
        """The model card; `by` a column it tells groups of rows apart."""
        return (yield from self._read(path("models", model, "versions", version, "card"), by=by))

    @operation
    def export(self, model: str, version: int, to: str | Path) -> Plan[Path]:
        """Write a version into one file that `import_version` reads, here or elsewhere."""
        return (yield from self._written(path("models", model, "versions", version, "export"), to))

    @operation
    def download(self, model: str, version: int, to: str | Path) -> Plan[Path]:
        """Write the model itself into a file, which `costboost.load` and `costboost predict` read."""
        return (yield from self._written(path("models", model, "versions", version, "artifact"), to))

    def _written(self, where: str, to: str | Path) -> Plan[Path]:
        answer = yield from self._ask(Request("GET", where))
        written = Path(to)
        written.write_bytes(answer.content)
        return written

    @operation
    def import_version(self, model: str, file: str | Path) -> Plan[Version]:
        """Take an exported version in as the next one of a model."""
        headers = {"Content-Type": "application/zip", **keyed()}
        content = Path(file).read_bytes()
        request = Request("POST", path("models", model, "versions"), headers=headers, content=content)
        return Version.of((yield from self._document(request)))

    @operation
    def alias(self, model: str, name: str) -> Plan[Alias]:
        """Where an alias points."""
        return Alias.of((yield from self._read(path("models", model, "aliases", name))))

    @operation
    def set_alias(self, model: str, name: str, version: int, *, reason: str | None = None) -> Plan[Alias]:
        """Point an alias at a version, whether it is there already or not."""
        content = json.dumps(given({"version": version, "reason": reason})).encode()
        where = path("models", model, "aliases", name)
        if name in (yield from self._aliases(model)):
            answer = yield from self._change("PUT", where, content)
        else:
            headers = {"If-None-Match": "*", "Content-Type": "application/json"}
            made = Request("PUT", where, headers=headers, content=content, repeatable=False)
            answer = yield from self._ask(made)
        return Alias.of(answer.json())

    def _aliases(self, model: str) -> Plan[dict[str, int]]:
        document = yield from self._read(path("models", model))
        aliases: dict[str, int] = document["aliases"]
        return aliases

    @operation
    def delete_alias(self, model: str, name: str) -> Plan[None]:
        """Remove an alias; its version stays."""
        yield from self._change("DELETE", path("models", model, "aliases", name))
