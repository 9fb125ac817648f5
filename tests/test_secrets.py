"""No secret is in the history, and the search for them finds what it says."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import find_secrets

ROOT = Path(__file__).parent.parent
# Written in two parts, so that this file holds none itself.
SAMPLES = {
    "private key": "-----BEGIN RSA PRIVATE" + " KEY-----",
    "key of AWS": "AKIA" + "IOSFODNN7EXAMPLE",
    "key of Google": "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "token of GitHub": "ghp_" + "0123456789abcdefghijABCDEFGHIJ456789",
    "token of GitLab": "glpat-" + "x7Kq2mN9pR4tV6wY8zA1",
    "token of Slack": "xoxb-" + "1234567890-abcdef",
    "token of PyPI": "pypi-AgE" + "IcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIzNDU2Nzg5",
    "key of Stripe": "sk_live" + "_4eC39HqLyjWDarjtT1zdp7dc",
    "JSON web token": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN",
    "key of this service": "cb_" + "019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51_" + "0123456789abcdef" * 4,
    "password in an address": "postgresql://someone:" + "geheim-genug@db.company.com/costboost",
    "assigned secret": 'API_KEY = "' + "q8Zr4Tn1Wx6Yv3Bc9Dm5Kp7L" + '"',
}


def test_the_history_holds_none() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "find_secrets.py"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "No secret in the history.\n"), done.stderr


@pytest.mark.parametrize("kind", find_secrets.LOOKS)
def test_each_kind_is_found(kind: str) -> None:
    assert kind in list(find_secrets.in_line(f"x = {SAMPLES[kind]} "))


@pytest.mark.parametrize(
    "line",
    [
        'database_url = "postgresql://u:geheim-genug@127.0.0.1:1/none"',
        'url = "https://user:secret-812@hooks.example/"',
        'sha256 = "' + "0123456789abcdef" * 4 + '"',
        '"secret": "' + "5e" * 32 + '"',
        '"api_key": "key_019b76da-9a31-7cf0-9c5e-0d4c3a0d9a51"',
        "token = make_a_token_of(something_with_a_long_name)",
    ],
)
def test_examples_are_none(line: str) -> None:
    assert list(find_secrets.in_line(line)) == []


def test_what_was_removed_since_is_found_with_its_commit_and_is_not_printed(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        done = subprocess.run(
            ["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    (tmp_path / "settings.py").write_text(SAMPLES["assigned secret"])
    git("add", ".")
    git("commit", "--quiet", "-m", "A mistake")
    told = git("rev-parse", "HEAD")
    (tmp_path / "settings.py").write_text("")
    git("commit", "--quiet", "-am", f"Without it; it was {SAMPLES['key of AWS']}")
    assert set(find_secrets.in_history(tmp_path)) == {
        (told, "settings.py", "assigned secret"),
        (git("rev-parse", "HEAD"), "(message)", "key of AWS"),
    }


def test_where_there_is_no_history_nothing_is_called_clean(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="cannot be read"):
        list(find_secrets.in_history(tmp_path))
