# mklbench: `make` prints the targets.
.DEFAULT_GOAL := help
.PHONY: help run test test-all test-oldest test-newest test-cluster archives licences lint check bench mutants faults faults-short report reproduce-tables wheel-check docs clean

VENV   ?= .venv
ALGO   ?= qnpkl
DATA   ?=
JOBS   ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
TABLES ?=
WHEEL_TABLE ?= picard2012_table1
PARTS  ?=
MINUTES ?=

# Real data beside the checkout serve as the download mirror where they are.
ifneq ($(wildcard ../shared/data),)
export MKLBENCH_MIRROR ?= $(abspath ../shared/data)
endif

# The first interpreter that runs and has a version the dependencies support.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null \
	&& echo $$python && break; done)
BIN := $(VENV)/bin

help:  ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: DATA=$(or $(DATA),sonar) ALGO=$(ALGO) JOBS=$(JOBS) TABLES=\"picard2012_table1 ...\" VENV=$(VENV)"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11, 3.12 or 3.13 is needed; set PYTHON=/path/to/python" >&2; exit 2; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || { echo "make: a C++ compiler is needed to build LIBSVM (Debian: apt install g++)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# One stamp per set of packages, so that each target installs no more than it needs, once.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@
$(VENV)/.installed-extras: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[images]'
	@touch $@
$(VENV)/.installed-report: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	@touch $@
$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@
$(VENV)/.installed-lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	@touch $@

# Sonar has a published number; wdbc comes with scikit-learn. A host has 5 seconds to answer.
run: $(VENV)/.installed  ## set up and run the main job: make run, make run DATA=pima ALGO=simplemkl
	@data=$(or $(DATA),sonar); \
	if test -z "$(DATA)" && ! MKLBENCH_TIMEOUT=5 $(BIN)/mklbench data fetch sonar >/dev/null 2>&1; then \
		echo "Sonar cannot be had here (mklbench data fetch sonar says why): this is wdbc, which needs no download."; \
		data=wdbc; \
	fi; \
	set -x; $(BIN)/mklbench run algo=$(ALGO) data=$$data jobs=$(JOBS)

# Tests that share something that is dear to build carry a group, which one process takes whole.
PYTEST := -m pytest -n $(JOBS) --dist loadgroup
FAST := -m "not slow"

test: $(VENV)/.installed-test  ## set up and run the tests, JOBS at a time; 4 minutes on 2 cores
	$(BIN)/python $(PYTEST) $(FAST)

test-all: $(VENV)/.installed-test  ## the same with long searches and property tests, as a release needs; under 20 minutes
	$(BIN)/python $(PYTEST)

# Of each dependency the oldest version that pyproject.toml allows and that has a wheel for this
# Python, in an environment of its own; three packages there are in source only.
OLDEST := $(VENV)-oldest
SOURCES := --no-binary mklbench --no-binary libsvm-official --no-binary antlr4-python3-runtime
$(OLDEST)/.installed: pyproject.toml
	test -n "$(PYTHON)" && $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet uv
	$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --only-binary :all: $(SOURCES) --editable '.[test]'
	@touch $@

test-oldest: $(OLDEST)/.installed  ## the tests with the oldest versions of all dependencies
	$(OLDEST)/bin/python $(PYTEST) $(FAST)

# And the newest that there is for this Python, whatever is in the first environment.
NEWEST := $(VENV)-newest
$(NEWEST)/.installed: pyproject.toml
	test -n "$(PYTHON)" && $(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[test]'
	@touch $@

test-newest: $(NEWEST)/.installed  ## the tests with the newest versions of all dependencies
	$(NEWEST)/bin/python $(PYTEST) $(FAST)

test-cluster: $(VENV)/.installed-test  ## the tests on a real Slurm and a real Dask, which it starts; as root it installs Slurm
	tests/install
	$(BIN)/python -m pytest tests/cluster $(FAST) -n 2 --dist loadgroup

lint: $(VENV)/.installed-lint  ## ruff, and mypy over the program, tests, benchmarks and faults
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.installed-mutants: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --editable '.[test,mutants]'
	@touch $@

mutants: $(VENV)/.installed-mutants  ## change the code in small ways: do the tests notice? PARTS=certify for one module
	nice -n 10 $(BIN)/python -m benchmarks.mutants $(PARTS)

check: $(VENV)/.installed-extras  ## run a fast subset again and compare with the recorded and published numbers
	$(BIN)/mklbench check --jobs $(JOBS)

faults: $(VENV)/.installed-test  ## 200 kills, damage, full disks, interrupts ... at random, and what was lost
	$(BIN)/python -m faults

faults-short: $(VENV)/.installed-test  ## a few of each of these faults, in a minute
	$(BIN)/python -m faults --short

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

bench: $(VENV)/.installed-bench  ## measure speed and memory, as ratios within one run; PARTS=gaps, ikl or peaks for a long one
	$(BIN)/python -m benchmarks $(PARTS)

$(VENV)/.installed-release: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	@touch $@

archives: $(VENV)/.installed-release  ## the wheel and the source archive of a release, checked: dist/
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

licences: $(VENV)/.installed-test  ## the licences of all that is installed with the program: may it use them?
	PYTHONPATH=. $(BIN)/python tests/support/licences.py

$(VENV)/.installed-docs: $(VENV)/.installed-extras
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

docs: $(VENV)/.installed-docs  ## the documentation with its gallery, as a site: docs/build/index.html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -b html docs docs/build
	@echo "Wrote docs/build/index.html"

report: $(VENV)/.installed-report  ## write build/report.html: everything that is recorded as one page
	@mkdir -p build
	$(BIN)/mklbench report --out build/report.html

# A host has 5 seconds to answer, as for `run`, but not where there is time enough.
reproduce-tables: $(VENV)/.installed-extras  ## repeat recorded splits for MINUTES=10 and compare them; MINUTES=all runs everything
ifeq ($(MINUTES),all)
	$(BIN)/mklbench reproduce $(TABLES) --jobs $(JOBS)
else
	MKLBENCH_TIMEOUT=$${MKLBENCH_TIMEOUT:-5} $(BIN)/mklbench reproduce $(TABLES) --jobs $(JOBS) --minutes $(or $(MINUTES),10)
endif

# The wheel as a user has it: complete in a folder that is no checkout.
WHEEL := build/wheel-check
wheel-check: $(VENV)/.installed  ## build the wheel, install it, and run, tabulate, compare and check from another folder
	rm -rf $(WHEEL)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(WHEEL) .
	test $$(cat $(WHEEL)/*.whl | wc -c) -lt 10000000
	$(BIN)/python -m pip install --quiet --no-deps --target $(WHEEL)/site $(WHEEL)/*.whl
	mkdir -p $(WHEEL)/elsewhere
	$(BIN)/mklbench table $(WHEEL_TABLE) --recorded > $(WHEEL)/elsewhere/checkout.md
	cd $(WHEEL)/elsewhere && export PYTHONPATH=$(abspath $(WHEEL)/site) && wheel="$(abspath $(BIN))/python -P -m mklbench" && \
		$$wheel run algo=svm data=wdbc split.n_splits=2 results_dir=store out=rows.csv && test $$(wc -l < rows.csv) = 3 && \
		$$wheel table $(WHEEL_TABLE) --recorded > wheel.md && cmp checkout.md wheel.md && \
		$$wheel compare algo=uniform --table learning_pays --quick --jobs $(JOBS) --results-dir store && \
		$$wheel check $(WHEEL_TABLE) --jobs $(JOBS)

clean:  ## remove the environment and what was built (not the results)
	rm -rf $(VENV) $(OLDEST) $(NEWEST) build dist
