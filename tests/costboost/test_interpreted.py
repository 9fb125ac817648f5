"""Kernels mean in machine code what they mean as Python."""

import json
import os
import subprocess
import sys

from tests.costboost.interpreted import digests


def test_compiled_and_interpreted_kernels_give_the_same_bytes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.costboost.interpreted"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    assert json.loads(done.stdout) == digests()
