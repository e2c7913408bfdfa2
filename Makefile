# Every target sets up what it needs; none needs anything done before it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHIM := python/holdfast/spark/holdfast-shim.jar
JAVA := $(wildcard jvm-shim/*/holdfast/*.java)
MINUTES ?= 5
SEED ?=

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.ready: pyproject.toml
	@echo "== setting up $(VENV): Spark and the rest, some 500 MB, once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --group dev
	@$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

# The jar is rebuilt when a Java file has changed since.
$(SHIM): $(VENV)/.ready $(JAVA)
	@echo "== compiling the shim"
	@$(BIN)/python jvm-shim/shim.py

.PHONY: setup
setup: $(VENV)/.ready ## make .venv and install everything into it

.PHONY: demo
demo: $(SHIM) ## a tour: a driver killed in mid-batch, its successor, a fenced zombie
	@$(BIN)/python -m tests.demo

.PHONY: quick
quick: $(VENV)/.ready ## the tests that need no server, in under a minute
	@echo "== quick tier"
	@$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not spark and not s3 and not crate and not slow" --ignore tests/spark

.PHONY: test
test: quick $(SHIM) ## the tests: the quick tier, then real Spark queries, then a real S3 server
	@echo "== with Spark"
	@$(BIN)/python -m pytest -q -m "spark and not slow and not s3 and not crate"
	@echo "== on a real S3 server"
	@$(BIN)/python -m pytest -q -m "s3 and not slow"

.PHONY: slow
slow: $(SHIM) ## what takes longer: many kills, long runs, and the seed's own crate
	@echo "== slow"
	@$(BIN)/python -m pytest -q -m "slow or crate"

.PHONY: lines
lines: $(SHIM) ## Spark 3.5 to 4.2: the same jar, stable hashes of plans; a Delta table as a sink
	@$(BIN)/python -m tests.lines --delta

.PHONY: lint
lint: $(VENV)/.ready ## lint, format and type checks
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

.PHONY: verify
verify: lint test ## lint, format and types, then every test

.PHONY: model
model: $(VENV)/.ready ## random schedules of the protocol for MINUTES=5 (SEED=n repeats them)
	@$(BIN)/python -m tests.model walk --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

.PHONY: faults
faults: $(SHIM) ## every fault at every step of a real query; renews the table in tests/README.md
	@$(BIN)/python -m tests.faults --keep

.PHONY: chaos
chaos: $(SHIM) ## kill, pause and lie to everything for MINUTES=5 (SEED=n repeats the events)
	@$(BIN)/python -m tests.chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

.PHONY: control
control: $(SHIM) ## one refused upload, under Spark's own S3A manager and under Holdfast
	@$(BIN)/python -m tests.control

.PHONY: fuzz
fuzz: $(VENV)/.ready ## changed bytes into every decoder for MINUTES=5 (SEED=n repeats them)
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

.PHONY: bench
bench: $(SHIM) ## Spark's checkpoints and ours, in turns (QUICK=1: a few batches); build/bench.json
	@$(BIN)/python -m tests.bench

.PHONY: bench-core
bench-core: $(VENV)/.ready ## the core's figures beside what is required; build/bench-core.json
	@$(BIN)/python -m tests.bench.core

.PHONY: bench-plot
bench-plot: $(VENV)/.ready ## the last `make bench` as tests/bench/results/bench.svg, with its figures
	@$(BIN)/python -m tests.bench.plot

.PHONY: bench-growth
bench-growth: $(SHIM) ## how cost grows with batches, partitions, live files and chain length
	@$(BIN)/python -m tests.bench.growth

.PHONY: format
format: $(VENV)/.ready ## put the code into its form
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

.PHONY: clean
clean: ## remove what the other targets made
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
