# Each target creates .venv and installs what it needs by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
DEPS   := pyproject.toml constraints.txt
TESTS  ?= tests

ifdef TORCH
CORE := $(VENV)/.torch
else
CORE := $(VENV)/.core
endif

.PHONY: demo test check unit format docs clean

demo: $(CORE)  ## the main job on the embedded defaults; TORCH=1 asks torch live
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh labs/demo.sh

test: check unit  ## format, lint, types, import directions, and all tests

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

unit: $(VENV)/.dev
	$(BIN)/pytest -n auto --dist worksteal $(TESTS)

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev  ## writes below each command of the pages what it prints today
	$(BIN)/python -m tests.docs $(PAGES)

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "breaklabs needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e .
	@touch $@

$(VENV)/.torch: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e '.[torch]'
	@touch $@

$(VENV)/.dev: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e '.[torch,dev]'
	@touch $@

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: index
index: $(VENV)/.dev  ## read and validate the catalogue once, for quick starts
	$(BIN)/python -m breaks.catalog
