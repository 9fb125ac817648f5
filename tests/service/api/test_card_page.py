"""The card as a page: lines of a number's steps, worked out by hand."""

from service.api.card_page import step_lines


def test_few_steps_have_a_line_each() -> None:
    assert step_lines([], [0.5]) == [("any", "+0.5")]
    assert step_lines([1.0, 2.0], [-1.0, 0.0, 3.0]) == [
        ("up to 1", "-1"),
        ("above 1, up to 2", "+0"),
        ("above 2", "+3"),
    ]


def test_of_many_steps_neighbours_share_a_line_that_spans_all_of_them() -> None:
    """Twenty-seven steps fall in pairs; the last is alone."""
    cuts = [float(cut) for cut in range(1, 27)]
    lines = step_lines(cuts, [*cuts, 27.0])
    assert len(lines) == 14
    assert lines[0] == ("up to 2", "+1 to +2")
    assert lines[1] == ("above 2, up to 4", "+3 to +4")
    assert lines[-1] == ("above 26", "+27")
