"""How the demo writes: colours and a moving bar on a terminal, plain lines anywhere else."""

import os
import sys

WIDTH = 16
_LIVE = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
_COLOUR = _LIVE and "NO_COLOR" not in os.environ


def bold(text: str) -> str:
    """Text that stands out."""
    return f"\033[1m{text}\033[0m" if _COLOUR else text


def dim(text: str) -> str:
    """Text that stands back."""
    return f"\033[2m{text}\033[0m" if _COLOUR else text


def green(text: str) -> str:
    """Text that is good news."""
    return f"\033[32m{text}\033[0m" if _COLOUR else text


def heading(text: str) -> None:
    """Begin a part of the story."""
    print(f"\n  {bold(text)}", flush=True)


def line(text: str = "") -> None:
    """One indented line."""
    print(f"    {text}".rstrip(), flush=True)


def bar(fraction: float, text: str, *, last: bool = False) -> None:
    """Draw progress over the line before; off a terminal only the last state is written."""
    if not (_LIVE or last):
        return
    full = round(WIDTH * fraction)
    drawn = f"    {green('━' * full)}{dim('━' * (WIDTH - full))}  {text}"
    print(f"\r{drawn}\033[K" if _LIVE else drawn, end="\n" if last else "", flush=True)
