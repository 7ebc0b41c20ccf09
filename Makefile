# Every target sets itself up: a bare machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV ?= .venv
# where an environment keeps its programs
PROGRAMS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(PROGRAMS)
# Two test workers, one BLAS thread each: more threads than cores only get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.PHONY: help demo check test test-slow test-oldest test-versions test-next odd-inputs everyday fuzz lint types \
  format bench bench-readme reproduce docs docs-check docs-links pictures dist sbom release-check clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sparsieve needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml experiments/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[cli,report]' --editable ./experiments
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml experiments/pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --editable ./experiments
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	@touch $@

demo: $(VENV)/.demo  ## few features out of thousands with three methods, and a report
	@$(BIN)/sparsieve demo

# Pages, pictures, commands, files, clusters and the large tables belong to `make test`.
LATER := report plotting cli io scale/cluster test_cluster.py test_common.py \
  test_odd_numbers.py test_documentation.py test_package.py
check: $(VENV)/.dev  ## the first case of every second short test of the core, in a minute
	$(ONE_THREAD) TEST_FIRST_CASES=yes $(BIN)/python -m pytest -q -n 2 --dist worksteal \
	  -m "not slow and not long" $(LATER:%=--ignore tests/%) --ignore experiments

test: $(VENV)/.dev  ## the test suite (some twelve minutes on two cores)
	$(ONE_THREAD) $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev  ## the long checks as well
	$(ONE_THREAD) TEST_ANEW=yes $(BIN)/python -m pytest -q -n 2 --dist worksteal

# The lowest versions that pyproject.toml promises, in an environment of their own. Test tools are
# of today: nobody is promised old ones.
OLDEST ?= .venv-oldest
OLDEST_TESTS ?= tests/app/io tests/app/cli/test_cli_select.py tests/app/cli/test_cli_commands.py \
  tests/solvers/engines tests/papers/l0_mpm tests/selectors/hinge tests/app/report/test_selection.py \
  tests/persistence tests/test_odd_numbers.py tests/test_package.py tests/test_compiled.py \
  tests/design/test_parallel_passes.py tests/solvers/claims/test_distillation.py
$(OLDEST)/.installed: pyproject.toml tests/lower_bounds.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tests/lower_bounds.py cli data report > $(OLDEST)/constraints.txt
	$(OLDEST)/$(PROGRAMS)/python -m pip install --quiet --upgrade pip
	$(OLDEST)/$(PROGRAMS)/python -m pip install --quiet --constraint $(OLDEST)/constraints.txt \
	  --editable '.[cli,data,report]' --editable ./experiments pytest pytest-xdist hypothesis cvxpy build hatchling
	@touch $@

test-oldest: $(OLDEST)/.installed  ## a part of the tests on the lowest versions promised
	$(ONE_THREAD) SCIPY_ARRAY_API=1 $(OLDEST)/$(PROGRAMS)/python -m pytest -q -n 2 -m "not slow" $(OLDEST_TESTS)

# Every supported scikit-learn, each in an environment of its own with the newest of everything else.
VERSIONS ?= 1.6 1.7 1.8 1.9
VERSION_TESTS ?= tests/test_sklearn.py tests/test_common.py tests/test_contract.py tests/test_conformance.py \
  tests/filters tests/meta tests/scoring tests/selection tests/app/comparison tests/preprocessing tests/persistence
TEST_TOOLS := pytest pytest-xdist hypothesis cvxpy build hatchling numpydoc
.venv-sklearn-%/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-sklearn-$*
	.venv-sklearn-$*/$(PROGRAMS)/python -m pip install --quiet --upgrade pip
	.venv-sklearn-$*/$(PROGRAMS)/python -m pip install --quiet --editable '.[cli,data,report]' --editable ./experiments \
	  'scikit-learn==$*.*' $(TEST_TOOLS)
	@touch $@

# What scikit-learn itself checks is not thinned here: every check of every estimator runs.
# SciPy's switch lets scikit-learn 1.6 import its own checks beside array-api-compat.
test-versions: $(VERSIONS:%=.venv-sklearn-%/.installed)  ## a part of the tests on every supported scikit-learn
	@for version in $(VERSIONS); do \
	  echo "scikit-learn $$version" && $(ONE_THREAD) SCIPY_ARRAY_API=1 \
	  .venv-sklearn-$$version/$(PROGRAMS)/python -m pytest -q -n 2 -m "not slow" $(VERSION_TESTS) || exit 1; \
	  $(ONE_THREAD) SCIPY_ARRAY_API=1 .venv-sklearn-$$version/$(PROGRAMS)/python -m pytest -q -n 2 \
	  -m "slow or not slow" tests/test_common.py::test_scikit_learn_checks || exit 1; \
	done

NIGHTLY_INDEX ?=
.venv-next/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-next
	.venv-next/$(PROGRAMS)/python -m pip install --quiet --upgrade pip
	.venv-next/$(PROGRAMS)/python -m pip install --quiet --pre $(NIGHTLY_INDEX:%=--extra-index-url %) \
	  --editable '.[cli,data,report]' --editable ./experiments $(TEST_TOOLS)
	@touch $@

test-next: .venv-next/.installed  ## the same on release candidates, and on NIGHTLY_INDEX where it is given
	$(ONE_THREAD) SCIPY_ARRAY_API=1 .venv-next/$(PROGRAMS)/python -m pytest -q -n 2 -m "not slow" $(VERSION_TESTS)

odd-inputs: $(VENV)/.dev  ## run every kind of odd input, and write docs/measured/odd_inputs.csv
	$(ONE_THREAD) $(BIN)/python docs/make_odd_inputs.py

everyday: $(VENV)/.dev  ## every selector on everyday kinds of data (hours), and write docs/measured/everyday.csv
	$(ONE_THREAD) $(BIN)/python tests/everyday.py

FUZZ_SECONDS ?= 180
fuzz: $(VENV)/.dev  ## attack readers, stores, studies, saved files and estimators for 3 minutes
	$(ONE_THREAD) FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python tests/fuzz.py

lint: $(VENV)/.dev  ## style, types and the layers of the architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory types
	@$(BIN)/python docs/rooms.py

types: $(VENV)/.dev  ## whether the types of all public names are known; names those that are not
	PATH="$(abspath $(BIN)):$$PATH" basedpyright --verifytypes sparsieve --ignoreexternal

format: $(VENV)/.dev  ## put the code into one style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## measure against the peers, one thread each
	$(ONE_THREAD) $(BIN)/python -m benchmarks

bench-readme: $(VENV)/.bench  ## measure the speed table of docs/measured.md, and write it there
	$(ONE_THREAD) $(BIN)/python -m benchmarks.readme_speed --write

PAPERS ?= robust-l20 l20 exclusive-l21 l0-mkl l0-mpm
HOW ?= --record experiments/src/sparsieve_experiments/papers/records
reproduce: $(VENV)/.demo  ## renew the records of the papers' experiments; PAPERS="l20" HOW="--full"
	@for paper in $(PAPERS); do \
	  $(ONE_THREAD) $(BIN)/sparsieve reproduce $$paper $(HOW) --jobs 2 --report $$paper.html || exit 1; \
	done

# Warnings are errors: a broken link or an example that fails ends the build.
SPHINX = $(ONE_THREAD) MPLBACKEND=Agg $(BIN)/python -m sphinx -q -W --keep-going -b html
docs: $(VENV)/.docs  ## build the HTML documentation, the gallery run, into docs/_build
	$(SPHINX) docs docs/_build

docs-check: $(VENV)/.docs  ## the same without running the gallery: links and pages, in a minute
	$(SPHINX) -j 2 -D plot_gallery=0 docs docs/_build/check

docs-links: $(VENV)/.docs  ## whether the links of the documentation lead somewhere (needs the network)
	$(BIN)/python -m sphinx -q -b linkcheck -D plot_gallery=0 docs docs/_build/links

pictures: $(VENV)/.dev  ## draw the pictures of the documentation again
	$(ONE_THREAD) $(BIN)/python docs/make_pictures.py

# PYTHONS="python3.11 python3.13" tries several; the first gets the source archive and the oldest scikit-learn too.
PYTHONS ?= $(PYTHON)
dist: $(VENV)/.dev  ## build wheel and source archive, and try both in bare environments of PYTHONS
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	@for python in $(PYTHONS); do $(BIN)/python docs/try_archive.py dist/*.whl $$python || exit 1; done
	@$(BIN)/python docs/try_archive.py dist/*.tar.gz $(firstword $(PYTHONS))
	@$(BIN)/python docs/try_archive.py dist/*.whl $(firstword $(PYTHONS)) 'scikit-learn==$(firstword $(VERSIONS)).*'
	@$(BIN)/python -c "import hashlib, pathlib; [print(hashlib.sha256(one.read_bytes()).hexdigest(), one.name) \
	  for one in sorted(pathlib.Path('dist').iterdir())]"

# What an installation with the command line brings, with versions and licences.
sbom: $(VENV)/.dev  ## write dist/sparsieve.cdx.json, a CycloneDX bill of materials
	rm -rf build/sbom && $(PYTHON) -m venv build/sbom/installed && $(PYTHON) -m venv build/sbom/tool
	build/sbom/installed/$(PROGRAMS)/python -m pip install --quiet '.[cli]'
	build/sbom/tool/$(PROGRAMS)/python -m pip install --quiet 'cyclonedx-bom>=5'
	mkdir -p dist
	build/sbom/tool/$(PROGRAMS)/cyclonedx-py environment --pyproject pyproject.toml --of JSON \
	  -o dist/sparsieve.cdx.json build/sbom/installed/$(PROGRAMS)/python
	rm -rf build/sbom

VERSION ?=
release-check: $(VENV)/.dev  ## whether package, changelog, citation and VERSION (a tag) agree
	$(BIN)/python docs/check_release.py $(VERSION)

clean:  ## remove what the targets made
	rm -rf $(VENV) $(OLDEST) docs/_build docs/_generated docs/api docs/gallery dist build .venv-sklearn-* .venv-next
