# Everything this project is asked to do, by name. `make` alone lists it.
#
# Needs: make, git and Python 3.11 or newer. Each target first builds what it needs in .venv.

# A name may be there and start nothing, as where pyenv has a version that is not chosen.
first_that_runs = $(or $(shell for one in $(1); do "$$one" -c '' 2> /dev/null && command -v "$$one" && break; done),python3)
PYTHON ?= $(call first_that_runs,python3.11 python3.12 python3.13 python3)
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip -qq --disable-pip-version-check

#: Of `make fuzz`.
CASES ?= 100000
SEED  ?=
FUZZ_SEED := $(or $(SEED),$(strip $(shell od -An -N4 -tu4 /dev/urandom)))

#: Code of which every branch is run by tests, and those tests.
JOBS := queue.py $(patsubst %,db/%.py,checkpoints executors jobs) $(patsubst %,domain/%.py,intake_jobs training) \
    $(patsubst %,usecases/%.py,attempts checkpoints intake_jobs jobs workers) \
    $(patsubst %,workers/%.py,attempt clerk keeper messenger slots supervisor sweeper)
BRANCHES := $(addprefix costboost/,actions.py cost_cells.py cost_ranges.py cost_specs.py costs.py decisions.py priors.py review.py \
    thresholds.py) \
    $(addprefix service/,artifacts/*.py api/access.py api/rates.py db/api_keys.py domain/access.py ui/session.py \
    usecases/access.py usecases/api_keys.py $(JOBS))
BRANCH_TESTS := $(patsubst %,tests/costboost/test_%.py,actions cost_ranges cost_specs costs decisions priors review thresholds) \
    $(addprefix tests/service/,artifacts api/test_access.py api/test_quotas.py test_storage_faults.py \
    ui/test_session.py usecases/test_access.py \
    usecases/test_attempts.py usecases/test_checkpoints.py usecases/test_late_steps.py usecases/test_sweeping.py \
    domain/test_training.py api/test_intake_jobs.py test_doctor.py workers)
#: Tests that touch each package the product stands on, with the lowest versions and with the newest.
QUICK_TESTS ?= $(addprefix tests/,costboost/test_costs.py costboost/test_model.py costboost/test_model_as_estimator.py \
    costboost/test_model_costs.py costboost/test_persistence.py costboost/test_scorer.py service/artifacts service/db \
    service/domain service/rows service/api/test_predictions.py service/test_client.py service/test_end_to_end.py \
    service/test_settings.py)
# Kernels of another numba are kept apart, and compiled before tests that have deadlines.
LOWEST_PYTHON := NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/numba .venv-lowest/bin/python
# The newest Python here that is supported; the newest numpy and scipy are for 3.12 or later.
NEWEST ?= $(call first_that_runs,python3.13 python3.12 python3.11 python3)
NEWEST_PYTHON := NUMBA_CACHE_DIR=$(CURDIR)/.venv-newest/numba .venv-newest/bin/python
LOWEST := $(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct
comma := ,
empty :=
listed = $(subst $(empty) $(empty),$(comma),$(strip $(1)))

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-lowest test-newest coverage coverage-branch mutation chaos figures fuzz audit vulnerabilities secrets compose-test check format bench bench-full load data paper money docs pictures serve clean constraints vendor

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.service ## train and predict on bundled data, in money; starts and stops its own service
	@$(BIN)/python demo/demo.py

test: $(VENV)/.installed $(VENV)/.chromium ## all tests but the slow tier, on SQLite and PostgreSQL, in two processes
	@$(BIN)/python -m pytest -m "not slow" -n 2 --dist loadfile

test-slow: $(VENV)/.installed ## the slow tier
	@scripts/faketime.sh
	@$(BIN)/python -m pytest -m slow

test-lowest: $(VENV)/.audit ## with the lowest versions that pyproject.toml allows, in .venv-lowest; all tests: QUICK_TESTS=
	@test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	@$(LOWEST) 'hatchling>=1.27' 'editables>=0.5'
	@$(LOWEST) --no-build-isolation --editable '.[dev]'
	@$(LOWEST_PYTHON) -c 'from costboost import warming; warming.warm()'
	@$(LOWEST_PYTHON) -m pytest $(QUICK_TESTS) -m "not slow"

test-newest: $(VENV)/.audit ## with the newest versions that pyproject.toml allows, in .venv-newest; NEWEST=python3.13, QUICK_TESTS=
	@rm -rf .venv-newest && $(NEWEST) -m venv .venv-newest
	@$(BIN)/uv pip install --quiet --python .venv-newest/bin/python 'hatchling>=1.27' editables
	@$(BIN)/uv pip install --quiet --python .venv-newest/bin/python --no-build-isolation --editable '.[dev]'
	@$(NEWEST_PYTHON) -c 'from costboost import warming; warming.warm()'
	@$(NEWEST_PYTHON) -m pytest $(QUICK_TESTS) -m "not slow"

coverage: $(VENV)/.installed ## lines of the library that its tests run; fails below 95 %
	@$(BIN)/python -m pytest tests/costboost costboost -m "not slow" -n 2 --dist loadfile -q \
	    --cov --cov-report=term:skip-covered --cov-fail-under=95

coverage-branch: $(VENV)/.chromium ## branches of costs, decisions, keys, jobs and the artifact store; fails where one is not run
	@$(BIN)/python -m pytest $(BRANCH_TESTS) -m "not slow" -q --cov=costboost --cov=service --cov-branch --cov-report=
	@$(BIN)/coverage report --include='$(call listed,$(BRANCHES))' --show-missing --fail-under=100

mutation: $(VENV)/.mutation ## change the cost code and what decides, line by line: fails where tests notice less than 85 %
	@$(BIN)/python -m mutmut run --max-children 2
	@$(BIN)/python -m mutmut export-cicd-stats
	@$(BIN)/python -c 'import json, sys; n = json.load(open("mutants/mutmut-cicd-stats.json")); \
	    share = (n["killed"] + n["timeout"]) / n["total"]; print(f"noticed: {share:.1%}"); sys.exit(share < 0.85)'

chaos: $(VENV)/.installed ## 10,000 jobs and 2,000 fits on each database while everything is killed; CHAOS="--jobs 500 --fits 50"
	@$(BIN)/python -m tests.chaos $(CHAOS)

figures: $(VENV)/.installed ## how soon jobs start, go on and stop, and what restarts do to predictions; FIGURES="--turns 5"
	@$(BIN)/python -m tests.chaos.figures $(FIGURES)

fuzz: $(VENV)/.installed ## draw requests, on both databases, and mutations of all that is read: CASES=100000, SEED repeats a run
	@echo "SEED=$(FUZZ_SEED) CASES=$(CASES)"
	@FUZZ_CASES=$(CASES) FUZZ_MUTATIONS=$(CASES) FUZZ_SEED=$(FUZZ_SEED) $(BIN)/python -m pytest -s \
	    --hypothesis-seed=$(FUZZ_SEED) --hypothesis-show-statistics tests/service/long_fuzz.py tests/service/test_mutations.py

audit: $(VENV)/.service ## licences of all that the service installs, and an SBOM (CycloneDX) in build/sbom.json
	@$(BIN)/python scripts/inventory.py build/sbom.json

vulnerabilities: $(VENV)/.audit ## known faults of the pinned versions, from PyPI; fails where that cannot be asked
	@$(BIN)/pip-audit --strict --desc --no-deps --disable-pip --requirement constraints.txt

secrets: $(VENV)/.service ## search every commit for keys, tokens and passwords
	@$(BIN)/python scripts/find_secrets.py

compose-test: ## build the deployment with docker-compose, use it, break it, take it down; needs Docker
	@$(PYTHON) deploy/compose_test.py

check: $(VENV)/.installed ## format, lint, types and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.installed ## write what `make check` would complain about, where a tool can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## speed of training, scoring and serving beside named peers, in less than ten minutes
	@cd benchmarks && ../$(BIN)/python -m speed --quick

bench-full: $(VENV)/.bench ## the same with large tables; writes docs/benchmarks/speed.md
	@cd benchmarks && ../$(BIN)/python -m speed

load: $(VENV)/.bench ## single rows at 1, 8 and 64 connections: idle, while both slots train, beside uploads; LOAD="--minutes 60" memory
	@cd benchmarks && ../$(BIN)/python -m speed.under_load $(LOAD)

data: $(VENV)/.service ## build the data sets of `make paper` and `make money` in ./data out of public Python packages
	@$(BIN)/python benchmarks/data.py

paper: $(VENV)/.service ## run the tables of the PCADA paper again, beside its numbers; begun runs go on
	@$(BIN)/python benchmarks/paper/run.py

money: $(VENV)/.bench ## what decisions cost beside named peers, in three hours; begun runs go on; docs/benchmarks/money.md
	@cd benchmarks && ../$(BIN)/python -m money --page ../docs/benchmarks

serve: $(VENV)/.service ## API and worker on http://127.0.0.1:8000, data kept in ./var
	@exec $(BIN)/costboost serve --data-dir var

clean: ## remove the environment and every cache; leaves ./var, where `make serve` keeps its data
	rm -rf $(VENV) .venv-constraints .venv-lowest .venv-newest benchmarks/environments .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	    .import_linter_cache .coverage htmlcov mutants build dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two stamps: the demo and the service need no test tools, and installing those would double the newcomer's wait.
# The build back end is installed first, at the pinned version, so that the build needs no environment of its own.
$(VENV)/.service: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Costboost needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11")'
	@echo "Installing Costboost into $(VENV) (once; about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --constraint constraints.txt hatchling editables
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[service]'
	@touch $@

$(VENV)/.installed: $(VENV)/.service
	@echo "Installing the test tools ..."
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.service
	@echo "Installing the peers that Costboost is measured against ..."
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[bench]'
	@touch $@

# The tests of the pages need a browser. Where none can be had they are skipped, or fail if CI is set.
$(VENV)/.chromium: $(VENV)/.installed
	@scripts/chromium.sh
	@touch $@

vendor: ## fetch again, through npm, what the pages bring along from other projects; checks every hash
	@$(PYTHON) scripts/vendor.py

docs: $(VENV)/.docs ## write the documentation as pages into ./site; every link must lead somewhere
	@$(BIN)/python docs/write_reference.py && $(BIN)/python docs/write_api_reference.py
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

pictures: $(VENV)/.installed $(VENV)/.chromium ## the pictures of docs/images anew, and how long each page takes
	@$(BIN)/python scripts/pictures.py

$(VENV)/.docs: $(VENV)/.service
	@echo "Installing what writes the documentation ..."
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[docs]'
	@touch $@

$(VENV)/.audit: $(VENV)/.service
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[audit]'
	@touch $@

$(VENV)/.mutation: $(VENV)/.installed
	@$(PIP) install --constraint constraints.txt --no-build-isolation --editable '.[mutation]'
	@touch $@

constraints: ## resolve pyproject.toml afresh and write constraints.txt
	rm -rf .venv-constraints
	$(PYTHON) -m venv .venv-constraints
	.venv-constraints/bin/python -m pip -qq install hatchling editables
	.venv-constraints/bin/python -m pip -qq install --no-build-isolation --editable '.[dev,bench,otel,docs,audit,mutation]'
	{ echo "# The exact versions Costboost is tested with. Written by \`make constraints\`; do not edit by hand."; \
	  .venv-constraints/bin/python -m pip freeze --exclude-editable; } > constraints.txt
	rm -rf .venv-constraints
