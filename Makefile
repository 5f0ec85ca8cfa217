# Everything runs in .venv, which the first target that needs it makes. Paths are relative: the folder's own name may hold spaces.
.DEFAULT_GOAL := help
SHELL := /bin/sh
.SUFFIXES:

BIN := .venv/bin
RUN := $(BIN)/python
READY := .venv/ready
TESTS ?=
# The interpreter that .venv is made with; empty: the newest on PATH that will do.
PYTHON ?=
# `no` leaves out the tests that drive real editors.
EDITORS ?=

.PHONY: help
help:
	@echo "make demo       install into .venv, then show a kernel's types, PTX and SASS"
	@echo "make test       install what the tests need, then run all of them (TESTS=path to run some)"
	@echo "make check      lint and the tests that take seconds: under two minutes"
	@echo "make lint       ruff and the import layers"
	@echo "make bench      the figures of benchmarks/"
	@echo "make schemas    write schemas/ from the types of the code"
	@echo "make snapshots  rewrite the expected texts of the tests"
	@echo "make pictures   walk through VS Code as a person would, and take pictures of it"
	@echo "make vsix       build the VS Code extension: vscode-extension/*.vsix"
	@echo "make clean      remove .venv and caches"

$(READY): pyproject.toml constraints.txt scripts/install.sh
	@PYTHON="$(PYTHON)" sh scripts/install.sh .venv
	@touch $(READY)

.PHONY: demo
demo: $(READY)
	@$(RUN) scripts/demo.py

.PHONY: test
test: $(READY) venvs
ifneq ($(EDITORS),no)
	@sh scripts/editors.sh
	$(RUN) -m pytest -n auto $(TESTS)
else
	$(RUN) -m pytest -n auto -m "not editors" $(TESTS)
endif

# What a person sees in VS Code, step by step, with pictures of it in build/screenshots: a test of its own, part of `make test` too.
.PHONY: pictures
pictures: $(READY)
	@sh scripts/editors.sh
	$(RUN) -m pytest tests/vscode -k what_is_seen

# Compilers that tests drive and that are no part of .venv, each in an environment of its own.
.PHONY: venvs
venvs: $(READY)
	@$(RUN) scripts/venvs.py

# The pure rooms, and the engine on real compilers; left out: whole servers, hostile workers, editors, every example.
EVERYDAY := tests/analysis tests/frontends tests/ide tests/engine tests/cli/test_names.py tests/cli/test_faults.py
.PHONY: check
check: lint
	$(RUN) -m pytest -n auto -m "not slow" $(or $(TESTS),$(EVERYDAY) $(wildcard tests/test_*.py))

.PHONY: lint
lint: $(READY)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(BIN)/lint-imports --no-cache

.PHONY: bench
bench: $(READY)
	$(RUN) -m benchmarks

.PHONY: schemas
schemas: $(READY)
	$(RUN) scripts/schemas.py schemas

.PHONY: snapshots
snapshots: $(READY)
	$(RUN) -m pytest --inline-snapshot=create,fix $(TESTS)

# The extension brings the server along, for every Python of this platform that can run it.
.PHONY: vsix
vsix: $(READY)
	rm -rf vscode-extension/*.vsix
	$(RUN) scripts/bundle.py vscode-extension/bundled
	cd vscode-extension && npm ci --loglevel=error && npm run --silent package

.PHONY: clean
clean:
	rm -rf .venv .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist vscode-extension/dist vscode-extension/bundled vscode-extension/node_modules
	find . -name __pycache__ -prune -exec rm -rf {} +
