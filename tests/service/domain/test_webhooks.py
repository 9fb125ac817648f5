"""Signatures and tries of webhooks, worked by hand."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from service.domain.webhooks import PAUSES, Delivery, WebhookBody, new_secret, signature

NOW = datetime(2026, 1, 5, tzinfo=UTC)
FIRST = Delivery(
    id="dlv_1", tenant_id="default", webhook_id="wh_1", event="alias.changed", body="{}", status="pending",
    attempts=1, next_at=NOW, last_status=None, last_error=None, created_at=NOW, finished_at=None,
)  # fmt: skip


def test_a_signature_is_over_seconds_and_body() -> None:
    secret = new_secret()
    expected = hmac.new(secret.encode(), b'1767571200.{"a": 1}', hashlib.sha256).hexdigest()
    assert signature(secret, 1_767_571_200, '{"a": 1}') == f"t=1767571200,v1={expected}"
    assert new_secret() != secret


def test_an_answer_of_2xx_ends_it() -> None:
    done = FIRST.told(NOW, 204)
    assert (done.status, done.last_status, done.finished_at) == ("delivered", 204, NOW)


@pytest.mark.parametrize("answer", [199, 302, 404, 500])
def test_anything_else_is_tried_again(answer: int) -> None:
    after = FIRST.told(NOW, answer)
    assert (after.status, after.last_status, after.last_error) == ("pending", answer, "refused")
    assert after.next_at == NOW + timedelta(seconds=10)


def test_the_pauses_grow_until_it_has_failed() -> None:
    assert list(PAUSES) == sorted(PAUSES)
    assert timedelta(hours=18) < sum(PAUSES, timedelta()) < timedelta(hours=20)
    late = Delivery(**{**vars(FIRST), "attempts": len(PAUSES)}).missed(NOW, "timeout")
    assert (late.status, late.next_at - NOW) == ("pending", PAUSES[-1])
    last = Delivery(**{**vars(FIRST), "attempts": len(PAUSES) + 1}).missed(NOW, "timeout")
    assert (last.status, last.last_error, last.finished_at) == ("failed", "timeout", NOW)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/", "//example.com", "example.com", "https://", "https://user:pw@example.com/",
        "https://example.com/#x", "https://example.com:0/", "https://example.com:99999/",
        "https://exa mple.com/", "https://exämple.com/", "https://example.com/\n", "https://[::1",
        "https://-a.com/", "javascript:alert(1)",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        WebhookBody(url=url)


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://a.b.example:8443/x?y=1", "https://[2606::1]:1/"]
)
def test_addresses(url: str) -> None:
    assert WebhookBody(url=url).url == url
