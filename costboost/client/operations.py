"""All that can be asked of the service, each operation written once for both clients."""

from collections.abc import Sequence
from typing import Any, TypeVar

from costboost.client.asking import path
from costboost.client.data import DataOperations
from costboost.client.exchange import Listing, Plan, Request, as_json, keyed, listing, operation
from costboost.client.jobs import JobState
from costboost.client.predicting import PredictingOperations
from costboost.client.registry import RegistryOperations
from costboost.client.results import ApiKey

J = TypeVar("J", bound=JobState)


class AccessOperations(DataOperations):
    """Keys, addresses to tell, and what to forget."""

    @operation
    def create_api_key(self, name: str, scopes: Sequence[str]) -> Plan[ApiKey]:
        """Make a key; `key` of the answer is shown this once."""
        body = {"name": name, "scopes": list(scopes)}
        return ApiKey.of((yield from self._document(as_json("POST", path("api-keys"), body, keyed()))))

    @listing
    def api_keys(self) -> Listing[ApiKey]:
        """All keys, revoked ones too, newest first."""
        return Listing(path("api-keys"), ApiKey.of)

    @operation
    def revoke_api_key(self, key_id: str) -> Plan[None]:
        """Make a key useless; within five seconds it is dead everywhere."""
        yield from self._ask(Request("DELETE", path("api-keys", key_id), repeatable=False))

    @listing
    def audit_log(self) -> Listing[dict[str, Any]]:
        """Who made or revoked keys, moved aliases or deleted something, newest first."""
        return Listing(path("audit-log"), dict)

    @operation
    def create_webhook(self, url: str, events: Sequence[str]) -> Plan[dict[str, Any]]:
        """Have an address told; the answer shows the `secret`, once."""
        body = {"url": url, "events": list(events)}
        return (yield from self._document(as_json("POST", path("webhooks"), body, keyed())))

    @listing
    def webhooks(self) -> Listing[dict[str, Any]]:
        """The addresses that are told, newest first."""
        return Listing(path("webhooks"), dict)

    @listing
    def deliveries(self, webhook_id: str) -> Listing[dict[str, Any]]:
        """What a webhook was told, what is tried again and why."""
        return Listing(path("webhooks", webhook_id, "deliveries"), dict)

    @operation
    def delete_webhook(self, webhook_id: str) -> Plan[None]:
        """Tell an address no more."""
        yield from self._ask(Request("DELETE", path("webhooks", webhook_id), repeatable=False))

    @operation
    def erase_subject(self, subject: str) -> Plan[dict[str, Any]]:
        """Forget whom rows are about; the answer names the datasets that still hold them."""
        return (yield from self._document(Request("DELETE", path("subjects", subject))))

    @operation
    def readiness(self) -> Plan[dict[str, Any]]:
        """Whether database, storage and a worker are there."""
        return (yield from self._read("/readyz"))

    @operation
    def release(self) -> Plan[dict[str, str]]:
        """The versions of the service and of its Python."""
        return (yield from self._read("/version"))


class Operations(AccessOperations, RegistryOperations, PredictingOperations[J]):
    """All of them."""
