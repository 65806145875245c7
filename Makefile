# make demo   set everything up and run the worst-case attack on the embedded file pair
# make docs   build the site of these pages in build/site
# make test   set everything up and run style, types and tests; those in a browser need `apt-get install chromium`
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
EXE := .exe
else
PYTHON ?= python3
SCRIPTS := bin
endif
VENV := .venv
BIN := $(VENV)/$(SCRIPTS)
SIDE_BY_SIDE := --numprocesses logical --maxprocesses 4 --dist worksteal

NEWEST := .venv-newest
BARE := .venv-core
# What must work on every installation: fit on all backends, evaluate, verify, mask, suppress, tables, files.
ANYWHERE := tests/test_extras.py \
  $(addprefix tests/solver/backends/test_,silence.py backend_answers.py linear_programs.py) \
  $(addprefix tests/solver/commands/test_,cli_certificate.py command_suppress.py command_tables_make.py command_tables_audit.py) \
  tests/datasets/microdata/formats/test_delimited.py
WITH_ALL := $(ANYWHERE) $(addprefix tests/solver/backends/test_,model_file.py separation.py) \
  tests/solver/commands/test_command_mask.py $(addprefix tests/datasets/microdata/formats/test_,arrow.py excel.py foreign.py round_trips.py)

.PHONY: demo docs test newest core test-slow lint types compiled release-check clean

demo: $(VENV)/.installed
	$(BIN)/python -m solver fit --aggregator choquet

test: lint types compiled
	$(BIN)/python -m pytest $(SIDE_BY_SIDE)

# The site, in build/site: tutorials are run, a broken link or formula is an error. It needs no network.
docs: $(VENV)/.installed-docs
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs build/site
	@echo "build/site/index.html"

# What users get: not the pinned versions, but the newest ones that the ranges of pyproject.toml allow.
newest:
	rm -rf $(NEWEST)
	$(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check -e '.[scip,report,files,link]' hypothesis pytest pytest-xdist
	NUMBA_CACHE_DIR=$(abspath $(NEWEST))/compiled $(NEWEST)/$(SCRIPTS)/python -m pytest -p no:cacheprovider $(SIDE_BY_SIDE) $(WITH_ALL)

# What `pip install linkrisk` brings, and no extra.
core:
	rm -rf $(BARE)
	$(PYTHON) -m venv $(BARE)
	$(BARE)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	$(PYTHON) scripts/benchmarks/installed.py --python $(BARE)/$(SCRIPTS)/python --count
	$(BARE)/$(SCRIPTS)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hypothesis pytest pytest-xdist
	NUMBA_CACHE_DIR=$(abspath $(BARE))/compiled $(BARE)/$(SCRIPTS)/python -m pytest -p no:cacheprovider $(SIDE_BY_SIDE) $(ANYWHERE)

test-slow: compiled
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "slow or not slow"

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

$(BIN)/python$(EXE):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 16))' || \
	  { echo "linkrisk needs Python 3.11 to 3.15: make PYTHON=/path/to/python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python$(EXE) pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/.installed-release: $(BIN)/python$(EXE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'twine>=6.1'
	touch $@

# Not by every process of the tests for itself, nor within the time of one of them.
compiled: $(VENV)/.installed-dev
	$(BIN)/python -m compileall -q datasets formulations linkrisk scripts solver
	$(BIN)/python -m solver compile

# Builds what is committed, installs the wheel where nothing else is, runs it, and leaves both distributions in dist.
release-check: $(VENV)/.installed-release
	$(BIN)/python scripts/release_check.py --keep dist

clean:
	rm -rf $(VENV) $(NEWEST) $(BARE) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
