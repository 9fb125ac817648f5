"""What the guarded child of an intake job does: read the file, and keep its typed columns."""

import shutil
from collections.abc import Callable
from typing import Any

from service.artifacts.store import ArtifactStore
from service.rows.child import take_in

#: phase, round, rounds, fraction of the whole
Report = Callable[[str, int, int, float], None]


def execute(store: ArtifactStore, order: dict[str, Any], report: Report) -> dict[str, Any]:
    """Read the file of an order.

    Returns
    -------
    dict
        `content_sha256` and `found`, see `service.rows.child.take_in`, as plain JSON.
    """
    report("reading", 0, 0, 0.0)
    with store.spool() as source, store.spool() as target:
        with store.open(order["source_sha256"]) as kept, source.open("wb") as file:
            shutil.copyfileobj(kept, file)
        payload = {name: order[name] for name in ("media_type", "options", "limits")}
        payload |= {"source": str(source), "target": str(target), "owner": order["dataset"]}
        found = take_in(payload, lambda _: None)
        report("storing", 0, 0, 1.0)
        return {"content_sha256": store.put_file(target), "found": found}
