"""What a process pays before its first fit: compilation, with an empty cache and with a full one."""

import json
import os
import subprocess
import sys
from tempfile import TemporaryDirectory

from .results import OURS, Samples, Table, rounded

#: CPU seconds of the imports that any fit needs, and of the first fits with scores.
_FIRST_FIT = """
import json, time
import numpy, sklearn.ensemble, sklearn.tree, numba, scipy.sparse
imports = time.process_time()
from costboost.registry import make
rng = numpy.random.default_rng(0)
X = rng.standard_normal((500, 5), dtype=numpy.float32)
y = (X[:, 0] + rng.standard_normal(500) > 1).astype(int)
for learner in LEARNERS:
    make("adaboost", {"estimator": learner, "n_estimators": 5}).fit(X, y).decision_function(X)
print(json.dumps([imports, time.process_time() - imports]))
"""

_FIRST_ROW = """
import json, sys, time
from costboost.persistence import load_scorer
import numpy
scorer = load_scorer(open(sys.argv[1], "rb").read())
scorer.decide({"a": numpy.array([1.0]), "b": numpy.array([2.0])})
heavy = [name for name in ("numba", "sklearn", "scipy", "pandas") if name in sys.modules]
print(json.dumps([time.process_time(), len(heavy)]))
"""

_MODEL = """
import sys
import numpy
from costboost.model import CostSensitiveModel
from costboost.persistence import dump
rng = numpy.random.default_rng(0)
X = {"a": rng.standard_normal(300), "b": rng.standard_normal(300)}
model = CostSensitiveModel("adaboost", costs={"fn": 9.0, "fp": 1.0}).fit(X, (X["a"] > 1).astype(int))
open(sys.argv[1], "wb").write(dump(model))
"""


def measure(quick: bool) -> list[Table]:
    """Measure in processes that do one thing."""
    cases: dict[str, Samples] = {}
    for title, learners in (
        ("first fit, stumps", "[None]"),
        ("first fit, stumps and trees", '[None, "tree"]'),
    ):
        script = _FIRST_FIT.replace("LEARNERS", learners)
        with TemporaryDirectory() as cache:
            imports, cold = _run(script, cache)
            warm = [_run(script, cache) for _ in range(2 if quick else 5)]
        cases[f"{title}, nothing compiled yet"] = {OURS: [cold]}
        cases[f"{title}, compiled before"] = {OURS: [fit for _, fit in warm]}
        cases["imports of numpy, scikit-learn, numba"] = {OURS: [imports, *(first for first, _ in warm)]}
    with TemporaryDirectory() as folder:
        artifact = f"{folder}/model"
        _run(_MODEL, folder, artifact, answers=False)
        rows = [_run(_FIRST_ROW, folder, artifact) for _ in range(2 if quick else 5)]
    cases["start, load a model and score one row"] = {OURS: [seconds for seconds, _ in rows]}
    loaded = {"numba, scikit-learn, scipy, pandas": {OURS: [rows[-1][1]]}}
    return [
        Table("start", "Start of a process", "s of CPU", rounded(cases), compared=False),
        Table("loaded", "Heavy libraries that scoring one row loads", "libraries", loaded, compared=False),
    ]


def _run(script: str, cache: str, *arguments: str, answers: bool = True) -> list[float]:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return [float(value) for value in json.loads(done.stdout.splitlines()[-1])] if answers else []
