"""How `card_fraud.csv.gz` was drawn from the published file; run it again to get the same bytes.

python demo/data/make_sample.py creditcard_fraud.csv.gz demo/data/card_fraud.csv.gz
"""

import gzip
import random
import sys
from pathlib import Path

SEED = 20130901
LEGITIMATE = 2008  # with the 492 frauds: 2,500 rows


def sample(lines: list[str]) -> list[str]:
    """All frauds and a seeded sample of the rest, in the source's order; the label is the last column."""
    frauds = {index for index, line in enumerate(lines) if line.endswith(",1")}
    legitimate = [index for index in range(len(lines)) if index not in frauds]
    kept = frauds | set(random.Random(SEED).sample(legitimate, LEGITIMATE))
    return [lines[index] for index in sorted(kept)]


def main(source: Path, target: Path) -> None:
    """Write the header and the sampled rows; no time stamp, so that the file is the same each time."""
    header, *lines = gzip.decompress(source.read_bytes()).decode("utf-8").splitlines()
    text = "\n".join([header, *sample(lines)]) + "\n"
    target.write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
