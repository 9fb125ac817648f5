"""The key ring: what it keeps, for how long, and what it says while the database is away."""

import hmac
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from service.db.engine import open_database, readers, sessions
from service.domain.access import ApiKey, is_secret, read_token, sha256_of, token_of
from service.domain.errors import UnauthorizedError
from service.usecases import access, api_keys
from service.usecases.access import KeyRing


@pytest.fixture
def database(database_url: str) -> Iterator[Engine]:
    found = open_database(database_url)
    yield found
    found.dispose()


def make(database: Engine) -> tuple[ApiKey, str]:
    return api_keys.create_key(sessions(database), "acme", "test", ["predict"], by="cli")


def test_a_key_is_looked_up_once_and_then_known(database: Engine) -> None:
    key, token = make(database)
    ring = KeyRing(readers(database))
    assert ring.cached(token) is None
    caller = ring.load(token)
    assert (caller.tenant, caller.key_id, caller.actor) == ("acme", key.id, key.id)
    assert ring.cached(token) == caller
    ring.forget(key.id)
    assert ring.cached(token) is None


def test_a_wrong_secret_is_refused_of_known_and_of_unknown_keys(database: Engine) -> None:
    key, token = make(database)
    ring = KeyRing(readers(database))
    wrong = token_of(key.id, "0" * 64)
    for _ in range(2):
        with pytest.raises(UnauthorizedError):
            ring.load(wrong)
        # Not at hand, whether the key is known or not: both are looked up before they are refused.
        assert ring.cached(wrong) is None
    for text_ in ("", "cb_", token[:-1], token.upper(), token + "0", "cb_x_" + "0" * 64):
        with pytest.raises(UnauthorizedError):
            ring.cached(text_)
    with pytest.raises(UnauthorizedError):
        ring.load(token_of("key_00000000-0000-7000-8000-000000000000", "0" * 64))


def test_right_wrong_unknown_and_revoked_keys_are_compared_alike(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once each, hash with hash, by the comparison whose time tells nothing: no answer comes sooner."""
    (key, token), (gone, revoked) = make(database), make(database)
    api_keys.revoke_key(sessions(database), "acme", gone.id, by="cli")
    compared: list[tuple[int, int]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((len(one), len(other)))
        return real(one, other)

    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", compare)
    ring = KeyRing(readers(database))
    assert ring.load(token).key_id == key.id
    unknown = token_of("key_00000000-0000-7000-8000-000000000000", "0" * 64)
    for refused in (token_of(key.id, "0" * 64), unknown, revoked):
        with pytest.raises(UnauthorizedError) as error:
            ring.load(refused)
        assert str(error.value) == "this API key is not valid here"
    assert compared == [(64, 64)] * 4


def test_whether_there_is_a_key_at_all(database: Engine) -> None:
    assert not api_keys.has_key(readers(database))
    key, _ = make(database)
    assert api_keys.has_key(readers(database))
    api_keys.revoke_key(sessions(database), "acme", key.id, by="cli")
    assert not api_keys.has_key(readers(database))


def test_while_the_database_is_away_the_last_look_stays(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, token = make(database)
    ring = KeyRing(readers(database))
    ring.load(token)
    with database.begin() as connection:
        connection.execute(text("ALTER TABLE api_keys RENAME TO away"))
    monkeypatch.setattr(access, "FRESH_SECONDS", -1.0)
    assert ring.cached(token) is None
    assert ring.load(token).tenant == "acme"
    with pytest.raises(Exception, match="api_keys"):
        KeyRing(readers(database)).load(token)


def test_many_keys_do_not_fill_the_memory(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAX_KEYS", 2)
    ring = KeyRing(readers(database))
    tokens = [make(database)[1] for _ in range(3)]
    for token in tokens:
        ring.load(token)
    assert ring.cached(tokens[0]) is None
    assert ring.cached(tokens[2]) is not None


def test_a_token_and_back() -> None:
    key_id, secret = "key_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51", "ab" * 32
    assert read_token(token_of(key_id, secret)) == (key_id, secret)
    assert is_secret(secret, sha256_of(secret))
    assert not is_secret(secret, sha256_of(secret + "0"))
