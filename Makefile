# Every target sets itself up: a bare machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two test workers, one BLAS thread each: more threads than cores only get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint format bench reproduce docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sparsieve needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	@touch $@

demo: $(VENV)/.demo  ## few features out of thousands with three methods, and a report
	@$(BIN)/sparsieve demo

test: $(VENV)/.dev  ## the test suite (minutes on two cores)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 --dist loadgroup -m "not slow"

test-slow: $(VENV)/.dev  ## the long checks as well
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 --dist loadgroup

lint: $(VENV)/.dev  ## style, types and the floors of the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## put the code into house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## measure against the peers, one thread each
	$(ONE_THREAD) $(BIN)/python -m benchmarks

PAPERS ?= robust-l20 l20 exclusive-l21 l0-mkl l0-mpm
HOW ?= --quick
reproduce: $(VENV)/.demo  ## the papers' experiments; PAPERS="l20" HOW="" for one in full
	@for paper in $(PAPERS); do \
	  $(ONE_THREAD) $(BIN)/sparsieve reproduce $$paper $(HOW) --jobs 2 --report $$paper.html || exit 1; \
	done

docs: $(VENV)/.docs  ## build the HTML documentation into docs/_build
	$(BIN)/python -m sphinx -q -b html docs docs/_build

clean:  ## remove what the targets made
	rm -rf $(VENV) docs/_build dist build
