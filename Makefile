# Every target sets up what it needs; none needs anything done before it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 5

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1mmake %-9s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml
	@echo "== setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

.PHONY: setup
setup: $(VENV)/.ready ## make .venv and install everything into it

.PHONY: quick
quick: $(VENV)/.ready ## the tests that need no server, in under a minute
	@$(BIN)/python -m pytest -n auto --dist worksteal -q -m "not s3 and not crate and not slow"

.PHONY: test
test: quick ## every test: quick tier first, then real S3
	@$(BIN)/python -m pytest -m "s3 or slow"

.PHONY: lint
lint: $(VENV)/.ready ## lint, format and type checks
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

.PHONY: format
format: $(VENV)/.ready ## put the code into its form
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

.PHONY: verify
verify: lint test ## what CI checks first: lint, format, types, then every test

.PHONY: clean
clean: ## remove what the other targets made
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
