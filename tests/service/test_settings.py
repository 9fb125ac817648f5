"""Settings: a mistake stops the start and says what is wrong, without telling secrets."""

from pathlib import Path

import pytest

from service.settings import Settings, SettingsError, load_settings


def test_defaults_need_no_variable() -> None:
    settings = load_settings({})
    assert settings.database_url.get_secret_value().startswith("sqlite:///")
    assert settings.lease_seconds == 15.0


def test_values_come_from_our_variables_alone() -> None:
    given = {"COSTBOOST_WORKERS": "3", "WORKERS": "9", "COSTBOOST_URL": "http://x", "COSTBOOST_API_KEY": "k"}
    assert load_settings(given).workers == 3


def test_the_command_line_wins() -> None:
    settings = load_settings({"COSTBOOST_PORT": "1"}, port=2, host=None)
    assert (settings.port, settings.host) == (2, "127.0.0.1")


def test_an_unknown_variable_names_its_neighbour() -> None:
    with pytest.raises(
        SettingsError, match="unknown variable COSTBOOST_WORKER; did you mean COSTBOOST_WORKERS"
    ):
        load_settings({"COSTBOOST_WORKER": "3"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WORKERS", "0"),
        ("WORKERS", "many"),
        ("PORT", "70000"),
        ("LEASE_SECONDS", "nan"),
        ("DATABASE_URL", "mysql://h/d"),
        ("DATABASE_URL", "sqlite://"),
        ("AUTH", "maybe"),
    ],
)
def test_a_wrong_value_names_its_variable_and_not_itself(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"COSTBOOST_{name}: ") as error:
        load_settings({f"COSTBOOST_{name}": value})
    assert "input" not in str(error.value)


def test_a_secret_may_be_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "url"
    path.write_text("postgresql://u:geheim@h/d\n")
    settings = load_settings({"COSTBOOST_DATABASE_URL_FILE": str(path)})
    assert settings.database_url.get_secret_value() == "postgresql://u:geheim@h/d"
    assert settings.masked()["database_url"] == "postgresql://u:***@h/d"
    assert "geheim" not in repr(settings)


def test_a_secret_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="both set"):
        load_settings({"COSTBOOST_DATABASE_URL": "sqlite:///x", "COSTBOOST_DATABASE_URL_FILE": str(tmp_path)})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings({"COSTBOOST_DATABASE_URL_FILE": str(tmp_path / "absent")})


def test_only_secrets_come_from_files() -> None:
    with pytest.raises(SettingsError, match="unknown variable COSTBOOST_PORT_FILE"):
        load_settings({"COSTBOOST_PORT_FILE": "x"})


def test_every_setting_can_be_shown() -> None:
    assert set(load_settings({}).masked()) == set(Settings.model_fields)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_on_a_loopback_address_no_key_is_needed(host: str) -> None:
    assert not load_settings({}, host=host).needs_keys
    assert not load_settings({}, host=host, auth="off").needs_keys
    assert load_settings({}, host=host, auth="keys").needs_keys


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org", "", "127.0.0.1.example.org"])
def test_where_others_can_reach_it_keys_are_needed(host: str) -> None:
    assert load_settings({}, host=host).needs_keys
    with pytest.raises(SettingsError, match=r"COSTBOOST_AUTH: .*costboost keys create"):
        load_settings({}, host=host, auth="off")
