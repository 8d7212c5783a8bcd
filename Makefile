# Each target creates .venv and installs what it needs by itself.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
DEPS   := pyproject.toml constraints.txt
# The first command need not compile what it imports.
READY   = $(BIN)/python -m compileall -q minitorch breaks labs grader && touch $@
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

long: fuzz mutation browser  ## what takes minutes

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
	@$(READY)

$(VENV)/.torch: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e '.[torch]'
	@$(READY)

$(VENV)/.dev: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e '.[torch,dev]'
	@$(READY)

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: index
index: $(VENV)/.dev  ## read and validate the catalogue and the labs once, for quick starts
	$(BIN)/python -m breaks.catalog
	$(BIN)/python -m labs.load

.PHONY: references
references: $(VENV)/.dev  ## ask torch about every scenario again; writes labs/references
	$(BIN)/python -m grader.torch_reference --record

.PHONY: matrix
matrix: $(VENV)/.dev  ## who sees which break; writes tests/kill_matrix.txt and docs/blind-spots.md
	$(BIN)/python -m tests.grader.test_kill_matrix

.PHONY: fuzz
fuzz: $(VENV)/.dev  ## ten thousand hostile documents, patterns and predictions
	BREAKLABS_FUZZ=10000 $(BIN)/pytest -n auto tests/breaks/test_fuzz.py tests/grader/test_prediction.py

$(VENV)/.bench: $(DEPS) | $(VENV)/bin/python
	$(PIP) -e '.[torch,dev,bench]'
	@$(READY)

.PHONY: bench-minitorch
bench-minitorch: $(VENV)/.bench  ## minitorch beside NumPy, torch, autograd and MyGrad; writes docs/performance.md
	env -u OPENBLAS_CORETYPE MALLOC_TRIM_THRESHOLD_=4000000000 MALLOC_MMAP_THRESHOLD_=4000000000 \
		$(BIN)/python benchmarks/bench_minitorch.py

.PHONY: browser
browser: $(VENV)/.dev  ## the pages in a real browser; installs Chromium with apt where it may
	@command -v chromium chromium-browser google-chrome >/dev/null || { \
	  command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	  && apt-get update -qq && apt-get install -y -qq chromium; } || { \
	  echo "No Chromium here. Install it (on Debian: apt install chromium), then run this again." >&2; exit 4; }
	$(BIN)/pytest tests/browser

.PHONY: refactorings
refactorings: $(VENV)/.dev  ## measures again which breaks survive which refactoring of the library
	$(BIN)/python -m tests.breaks.test_refactorings

.PHONY: mutation
mutation: $(VENV)/.dev  ## which breaks do minitorch's own tests kill?
	$(BIN)/pytest --break all tests/minitorch

.PHONY: locale
locale: $(VENV)/.dev  ## the sentences of the code into the Spanish catalogue, and that compiled
	$(BIN)/python -m tests.messages

.PHONY: bench-grader
bench-grader: $(VENV)/.bench  ## the grader beside imports, pytest, mutmut and cosmic-ray; writes docs/performance-grader.md
	$(BIN)/python benchmarks/bench_grader.py

.PHONY: determinism
determinism: $(VENV)/.dev  ## a hundred runs, two orders, two hash seeds, one and two workers: one answer
	BREAKLABS_RUNS=100 $(BIN)/pytest tests/grader/test_determinism.py
