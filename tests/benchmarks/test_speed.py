"""The benchmark beside named peers: its arithmetic, its page, its load, its committed figures."""

import asyncio
import importlib
import platform
import re
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE = BENCHMARKS.parent / "docs" / "benchmarks" / "speed.md"


@pytest.fixture(scope="module")
def speed() -> Iterator[dict[str, ModuleType]]:
    """Modules of the benchmark that need no peer."""
    names = ("results", "timing", "draws", "machine", "targets", "page", "load", "environments")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield {name: importlib.import_module(f"speed.{name}") for name in names}
    finally:
        sys.path.remove(str(BENCHMARKS))
        for name in [name for name in sys.modules if name == "speed" or name.startswith("speed.")]:
            del sys.modules[name]


@pytest.fixture
def table(speed: dict[str, ModuleType]):
    """Ours beside a peer that takes twice as long, and one that was not asked everything."""
    return speed["results"].Table(
        "fit",
        "Whole fits",
        "s of CPU",
        {
            "small": {"costboost": [1.0, 2.0, 4.0], "peer": [2.0, 4.0, 8.0], "slow": [90.0]},
            "large": {"peer": [30.0], "costboost": [10.0]},
            "nothing": {"costboost": [0.0], "peer": [3.0]},
        },
        "In turn.",
    )


@pytest.fixture
def summary(speed: dict[str, ModuleType], table):
    results = speed["results"]
    area = results.Area("training", "2026-01-01 00:00", (0.5, 1.5), [table])
    return results.Summary("2 cores of a processor", {"peer": "1.0"}, [area])


# --- arithmetic -------------------------------------------------------------------------------------------


def test_a_ratio_is_the_median_over_pairs(speed: dict[str, ModuleType]) -> None:
    ratio = speed["results"].ratio
    # Pairs: 2, 2, 5. The ratio of the medians would be 10 / 2 = 5.
    assert ratio([2.0, 10.0, 10.0], [1.0, 5.0, 2.0]) == 2.0
    # Of different numbers of runs: the medians, 6 over 2.
    assert ratio([6.0], [1.0, 2.0, 9.0]) == 3.0


def test_works_take_turns_and_begin_in_turn(speed: dict[str, ModuleType]) -> None:
    done: list[str] = []
    ticks = count()
    works = {name: lambda name=name: done.append(name) for name in "abc"}
    seconds = speed["timing"].interleaved(works, 3, clock=lambda: float(next(ticks)))
    assert "".join(done) == "abcbcacab"
    assert seconds == {name: [1.0] * 3 for name in "abc"}  # the clock moves once while a work runs


def test_short_works_are_repeated_until_they_fill_a_sample(speed: dict[str, ModuleType]) -> None:
    now, called = 0.0, 0

    def work() -> None:
        nonlocal now, called
        called += 1
        now += 9.0 if called == 1 else 0.25  # the first call compiles

    def clock() -> float:
        return now

    assert speed["timing"].calls_filling(work, 1.0, clock) == 4
    called = 0
    assert speed["timing"].per_call({"work": work}, 2, 1.0, clock) == {"work": [0.25, 0.25]}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.012345, "0.0123"), (1.005, "1"), (99.96, "100"), (123456.0, "123,456")],
)
def test_numbers_have_three_digits(speed: dict[str, ModuleType], value: float, shown: str) -> None:
    assert speed["page"].number(value) == shown


def test_results_come_back_as_they_were_written(
    speed: dict[str, ModuleType], summary, tmp_path: Path
) -> None:
    results = speed["results"]
    results.write(tmp_path / "new" / "area.json", summary.areas[0])
    assert results.read_area(tmp_path / "new" / "area.json") == summary.areas[0]
    results.write(tmp_path / "summary.json", summary)
    assert results.read_summary(tmp_path / "summary.json") == summary
    assert results.rounded({"case": {"peer": [1 / 3]}}) == {"case": {"peer": [0.3333]}}


# --- targets and page -------------------------------------------------------------------------------------


def test_a_target_is_reached_missed_or_not_measured(speed: dict[str, ModuleType], summary) -> None:
    targets, verdict = speed["targets"], speed["page"].verdict
    ours, peer = targets.Cell("fit", "small"), targets.Cell("fit", "small", "peer")
    reached = targets.Target("faster", peer, ours, "at least", 2.0)
    missed = targets.Target("share", ours, peer, "at most", 0.3)
    plain = targets.Target("seconds", ours, None, "at most", 2.0)
    unknown = targets.Target("other", targets.Cell("none", "small"), ours, "at most", 1.0)
    assert verdict(reached, summary) == "| faster | at least 2 | 2 | reached |"
    assert verdict(missed, summary) == "| share | at most 0.3 | 0.5 | **not reached** |"
    assert verdict(plain, summary) == "| seconds | at most 2 | 2 | reached |"
    assert verdict(unknown, summary) == "| other | at most 1 | – | not measured |"


def test_the_page_shows_medians_multiples_and_gaps(speed: dict[str, ModuleType], summary) -> None:
    text = speed["page"].page(summary, ["speed-training.svg"])
    assert "| | costboost | peer | slow |" in text  # ours first, in whatever order they were run
    assert "| small | 2 | 4 (2×) | 90 (45×) |" in text
    assert "| large | 10 | 30 (3×) | – |" in text
    assert "| nothing | 0 | 3 | – |" in text
    assert "training 0.5/1.5 on 2026-01-01 00:00" in text
    assert "](speed-training.svg)" in text
    assert "2 cores of a processor. peer 1.0." in text
    assert "In turn." in text
    assert "0 of 0 measured targets" in text


def test_every_target_names_another_thing(speed: dict[str, ModuleType]) -> None:
    said = [target.says for target in speed["targets"].TARGETS]
    assert len(set(said)) == len(said)


def test_the_machine_is_described_without_its_name(speed: dict[str, ModuleType]) -> None:
    text = speed["machine"].describe()
    assert re.match(r"\d+ cores of .+, \d+ GiB, ", text)
    assert platform.node() not in text
    assert speed["machine"].versions()["numpy"] == np.__version__


def test_the_committed_page_is_that_of_the_committed_figures(speed: dict[str, ModuleType]) -> None:
    summary = speed["results"].read_summary(BENCHMARKS / "results" / "summary.json")
    plots = [name for name in speed["page"].PLOTS if (PAGE.parent / name).exists()]
    assert PAGE.read_text(encoding="utf-8") == speed["page"].page(summary, plots)
    measured = {
        target.says for target in speed["targets"].TARGETS if target.value(summary.tables) is not None
    }
    assert measured == {target.says for target in speed["targets"].TARGETS}


# --- data -------------------------------------------------------------------------------------------------


def test_drawn_tables_are_the_same_each_time_and_as_told(speed: dict[str, ModuleType]) -> None:
    draws = speed["draws"]
    for draw in (lambda: draws.dense(2_000, 12), lambda: draws.skewed(2_000, 12), lambda: draws.mixed(2_000)):
        (X, y), (again, labels) = draw(), draw()
        np.testing.assert_array_equal(X, again)
        np.testing.assert_array_equal(y, labels)
        assert X.dtype == np.float32
        assert y.sum() == 40
    X, _ = draws.skewed(2_000, 12)
    assert abs((X == 0).mean() - 0.9) < 0.01
    X, _ = draws.mixed(2_000)
    assert not np.isnan(X[:, :8]).any()
    assert (X[:, :8].max(axis=0) < draws.LEVELS).all()
    assert abs(np.isnan(X[:, 8:]).mean() - 0.05) < 0.01


# --- load -------------------------------------------------------------------------------------------------


@pytest.fixture
def echo() -> Iterator[int]:
    """Port of a server that answers `good` with 200 in two pieces, and anything else with 400."""
    loop = asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length:")[2].split()[0])
                body = await reader.readexactly(length)
                status = b"200 OK" if body == b"good" else b"400 Bad"
                writer.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 4\r\n\r\nab")
                await writer.drain()
                await asyncio.sleep(0)
                writer.write(b"cd")
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()

    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield server.sockets[0].getsockname()[1]
    asyncio.run_coroutine_threadsafe(_end(server), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _end(server: asyncio.Server) -> None:
    server.close()
    own = asyncio.current_task()
    rest = [task for task in asyncio.all_tasks() if task is not own]
    await asyncio.wait(rest, timeout=5) if rest else None


def test_a_load_counts_whole_answers(speed: dict[str, ModuleType], echo: int) -> None:
    load = speed["load"]
    request = load.post("/predict", b"good")
    (answers, others) = load.drive([load.Traffic(echo, request, 2), load.Traffic(echo, request, 1)], 0.2)
    assert len(answers.latencies) > len(others.latencies) / 2 > 0
    assert 0 < answers.milliseconds(50) <= answers.milliseconds(99) < 5_000
    assert answers.per_second == len(answers.latencies) / answers.seconds


def test_a_load_ends_at_an_answer_that_is_not_200(speed: dict[str, ModuleType], echo: int) -> None:
    load = speed["load"]
    with pytest.raises(RuntimeError, match="400 Bad"):
        load.drive([load.Traffic(echo, load.post("/predict", b"bad"), 1)], 0.2)


def test_an_answer_must_say_how_long_it_is(speed: dict[str, ModuleType]) -> None:
    body_length = speed["load"].body_length
    assert body_length(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nX: y") == 12
    with pytest.raises(RuntimeError, match="how long"):
        body_length(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")
