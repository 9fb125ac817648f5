"""The page on reliability names tests that there are, one at least for each promise and fault."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = (TESTS.parent / "docs" / "reliability.md").read_text()
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def test_every_test_it_names_is_there() -> None:
    named = NAMED.findall(PAGE)
    assert len(named) > 80
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not re.search(rf"^def {name}\(", (TESTS / file).read_text(), re.MULTILINE)
    ]
    assert missing == []


def test_each_promise_and_fault_has_a_test() -> None:
    rows = [line for line in PAGE.split("## Longer runs")[0].splitlines() if line.startswith("| ")]
    bare = [row for row in rows if not NAMED.search(row) and not row.startswith(("| promise |", "| # |"))]
    assert bare == []
