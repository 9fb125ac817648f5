"""Secrets in what git keeps: in every line that any commit has ever added, and in every message.

    python scripts/find_secrets.py

Ends with 1 where there is one, and says where; what was found is not printed, for it would then be in a log
too. A secret that is found is revoked first: it stays in every clone, whatever is committed afterwards.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
#: Kind of a secret -> how it looks; the group `secret`, where there is one, is what must not be an example.
LOOKS: Final = {
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    "key of AWS": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "key of Google": re.compile(r"\bAIza[\w-]{35}"),
    "token of GitHub": re.compile(r"\b(?:gh[pousr]_\w{36}|github_pat_\w{40})"),
    "token of GitLab": re.compile(r"\bglpat-[\w-]{20}"),
    "token of Slack": re.compile(r"\bxox[abeprs]-[\w-]{10}"),
    "token of PyPI": re.compile(r"\bpypi-AgE[\w-]{50}"),
    "key of Stripe": re.compile(r"\b[rs]k_live_\w{16}"),
    "JSON web token": re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    "key of this service": re.compile(r"\bcb_[0-9a-f-]{36}_(?P<secret>[0-9a-f]{64})\b"),
    "password in an address": re.compile(r"\w://[^\s/:@]+:(?P<secret>[^\s/:@]{6,})@(?P<host>[\w.-]+)"),
    # Ids (`key_` and a UUID) are none.
    "assigned secret": re.compile(
        r"(?i)(?:password|passwd|secret|token|api_?key)\w*['\"]?\s*[:=]\s*"
        r"['\"](?!\w+_[\da-f]{8}-)(?P<secret>[\w+/=-]{24,})['\"]"
    ),
}
#: Hosts of examples and tests: this machine, names reserved for examples, and names without a domain.
_NOWHERE: Final = re.compile(r"127\.[\d.]+|localhost|(?:[\w.-]+\.)?example(?:\.\w+)?|[\w-]+")


class Found(NamedTuple):
    """One line that holds a secret."""

    commit: str
    file: str
    kind: str


def in_line(line: str) -> Iterator[str]:
    """Yield the kinds of secrets that a line holds."""
    for kind, look in LOOKS.items():
        if any(not _is_example(found.groupdict()) for found in look.finditer(line)):
            yield kind


def in_log(lines: Iterable[str]) -> Iterator[Found]:
    """Yield what is found in the output of `git log --patch`, which says `commit` and `+++` before it."""
    commit, file = "", "(message)"
    for line in lines:
        if line.startswith("commit "):
            commit, file = line.split()[1], "(message)"
        elif line.startswith("+++ "):
            file = line[4:].strip().removeprefix("b/")
        elif line.startswith(("+", "    ")):
            yield from (Found(commit, file, kind) for kind in in_line(line[1:]))


def in_history(repository: Path) -> Iterator[Found]:
    """Yield what is found in all that a repository reaches."""
    # Without the lines around a change, in plain text, merges too.
    options = ["--all", "--patch", "-m", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv"]
    command = ["git", "-C", str(repository), "log", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", errors="replace") as git:
        assert git.stdout is not None
        yield from in_log(git.stdout)
    if git.returncode:
        raise SystemExit("the history cannot be read")


def _is_example(groups: dict[str, str]) -> bool:
    """Whether it is a placeholder: a few characters over and over, or a password for no real host."""
    if not groups:
        return False
    host = groups.get("host")
    return len(set(groups["secret"])) < 8 if host is None else _NOWHERE.fullmatch(host) is not None


if __name__ == "__main__":
    found = sorted(set(in_history(ROOT)))
    for commit, file, kind in found:
        print(f"{commit[:12]} {file}: {kind}")
    print(f"{len(found)} secrets in the history" if found else "No secret in the history.")
    sys.exit(bool(found))
