# mklbench: `make` prints the targets.
.DEFAULT_GOAL := help
.PHONY: help run test lint check check-all bench mutants reproduce-tables wheel-check clean

VENV   ?= .venv
ALGO   ?= qnpkl
DATA   ?= wdbc
JOBS   ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
TABLES ?=
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
	@echo "  variables: DATA=$(DATA) ALGO=$(ALGO) JOBS=$(JOBS) TABLES=\"picard2012_table1 ...\" VENV=$(VENV)"

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: Python 3.11, 3.12 or 3.13 is needed; set PYTHON=/path/to/python" >&2; exit 2; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || { echo "make: a C++ compiler is needed to build LIBSVM (Debian: apt install g++)" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

# One stamp per set of packages, so that each target installs no more than it needs, once.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@
$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@
$(VENV)/.installed-lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[lint]'
	@touch $@

run: $(VENV)/.installed  ## set up and run the main job: make run, make run DATA=sonar ALGO=simplemkl
	$(BIN)/mklbench run algo=$(ALGO) data=$(DATA) jobs=$(JOBS)

test: $(VENV)/.installed-test  ## set up and run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-lint  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.installed-mutants: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --editable '.[test,mutants]'
	@touch $@

mutants: $(VENV)/.installed-mutants  ## change the code in small ways: do the tests notice? PARTS=certify for one module
	nice -n 10 $(BIN)/python -m benchmarks.mutants $(PARTS)

check: $(VENV)/.installed  ## run a fast subset again and compare with the recorded and published numbers
	$(BIN)/mklbench check --jobs $(JOBS)

check-all: $(VENV)/.installed  ## run one split again of every cell that other sources measured; TABLES=..., MINUTES=N
	$(BIN)/mklbench check --all $(TABLES) --jobs $(JOBS) $(if $(MINUTES),--minutes $(MINUTES))

faults: $(VENV)/.installed-test  ## 200 kills, damage, full disks, interrupts ... at random, and what was lost
	$(BIN)/python -m faults

faults-short: $(VENV)/.installed-test  ## a few of each of these faults, in a minute
	$(BIN)/python -m faults --short

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

bench: $(VENV)/.installed-bench  ## measure speed and memory, as ratios within one run; PARTS=gaps, ikl or peaks for a long one
	$(BIN)/python -m benchmarks $(PARTS)

reproduce-tables: $(VENV)/.installed  ## run what is missing and write every table and figure under results/
	$(BIN)/mklbench reproduce $(TABLES) --jobs $(JOBS)

wheel-check: $(VENV)/.installed  ## install as a user does, without the checkout, and run from another folder
	rm -rf build/wheel-check
	$(BIN)/python -m pip install --quiet --no-deps --target build/wheel-check/site .
	mkdir -p build/wheel-check/elsewhere
	cd build/wheel-check/elsewhere && PYTHONPATH=$(abspath build/wheel-check/site) $(abspath $(BIN))/python -P -m mklbench \
		run algo=svm data=wdbc split.n_splits=2 results_dir=store out=rows.csv
	test $$(wc -l < build/wheel-check/elsewhere/rows.csv) = 3

clean:  ## remove the environment and what was built (not the results)
	rm -rf $(VENV) build dist
