"""Datasets, costs and algorithms."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from costboost.client.asking import Asking, given, path
from costboost.client.exchange import Listing, Pause, Plan, Request, as_json, keyed, listing, operation
from costboost.client.jobs import JobState, path_of
from costboost.client.results import Algorithm, CostSpecRevision, Dataset
from costboost.client.tables import PARQUET, file_of, read_parquet


class DataOperations(Asking):
    """What is asked before anything is trained."""

    @operation
    def create_dataset(
        self,
        table: Any,
        *,
        name: str | None = None,
        label: str | None = None,
        positive_class: str | None = None,
        classes: Sequence[str] | None = None,
        roles: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
    ) -> Plan[Dataset]:
        """Upload a table.

        Parameters
        ----------
        table : path, pandas or polars DataFrame, Arrow table, or list of dicts
        name : str, optional
            A name to find it by.
        label : str, optional
            The column that tells the class; `label` if left out.
        positive_class : str, optional
            Of two classes; the rarer one if left out.
        classes : sequence of str, optional
            All of them, in the order they shall have; left out, they are sorted.
        roles, types : mapping of column to role or type, optional
            Such as ``{"customer": "group"}`` and ``{"zip": "category"}``.
        """
        options = {
            "name": name,
            "label": label,
            "positive_class": positive_class,
            "classes": classes and list(classes),
            "roles": roles and dict(roles),
            "types": types and dict(types),
        }
        request = Request(
            "POST",
            path("datasets"),
            headers=keyed(),
            fields={"options": json.dumps(given(options))},
            file=("file", file_of(table)),
        )
        answer = yield from self._ask(request)
        document = answer.json()
        if answer.status_code == 202:  # a worker reads it, for that takes long
            document = yield from self._taken_in(document["id"])
        return Dataset.of(document)

    def _taken_in(self, job_id: str) -> Plan[dict[str, Any]]:
        while True:
            waiting = Request("GET", path_of(job_id), headers={"Prefer": "wait=20"})
            job = JobState.of((yield from self._document(waiting)))
            if job.done:
                return (yield from self._read(path("datasets", job.outcome["dataset"])))
            yield Pause(0.1)

    @listing
    def datasets(self) -> Listing[Dataset]:
        """All datasets, newest first."""
        return Listing(path("datasets"), Dataset.of)

    @operation
    def dataset(self, dataset: str) -> Plan[Dataset]:
        """One, by its id or name."""
        return Dataset.of((yield from self._read(path("datasets", dataset))))

    @operation
    def dataset_profile(self, dataset: str) -> Plan[dict[str, Any]]:
        """What is in each column, and what to be warned of."""
        return (yield from self._read(path("datasets", dataset, "profile")))

    @operation
    def dataset_content(self, dataset: str) -> Plan[pa.Table]:
        """The table, with its types."""
        request = Request("GET", path("datasets", dataset, "content"), headers={"Accept": PARQUET})
        return read_parquet((yield from self._ask(request)).content)

    @operation
    def delete_dataset(self, dataset: str) -> Plan[None]:
        """Remove one that nothing was trained on."""
        yield from self._ask(Request("DELETE", path("datasets", dataset), repeatable=False))

    @operation
    def create_cost_spec(
        self, name: str, costs: Mapping[str, Any], *, currency: str | None = None
    ) -> Plan[CostSpecRevision]:
        """Store costs under a name; the same name again makes the next revision."""
        body = given({"name": name, "costs": dict(costs), "currency": currency})
        return CostSpecRevision.of(
            (yield from self._document(as_json("POST", path("cost-specs"), body, keyed())))
        )

    @operation
    def check_costs(self, costs: Mapping[str, Any]) -> Plan[dict[str, Any]]:
        """What costs lead to, in words, without storing them."""
        return (yield from self._document(as_json("POST", path("cost-specs", "validate"), dict(costs))))

    @listing
    def cost_specs(self) -> Listing[CostSpecRevision]:
        """All revisions of all costs, newest first."""
        return Listing(path("cost-specs"), CostSpecRevision.of)

    @operation
    def cost_spec(self, cost_spec: str) -> Plan[CostSpecRevision]:
        """One, by its id, or by its name the newest."""
        return CostSpecRevision.of((yield from self._read(path("cost-specs", cost_spec))))

    @listing
    def algorithms(self) -> Listing[Algorithm]:
        """What can be trained."""
        return Listing(path("algorithms"), Algorithm.of)

    @operation
    def algorithm(self, name: str) -> Plan[Algorithm]:
        """One, with the JSON Schema of its parameters."""
        return Algorithm.of((yield from self._read(path("algorithms", name))))
