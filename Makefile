# Every command of this project. Logic lives in Python; a target is a thin line over a tool.

# The first Python that is new enough; name another one with PYTHON=.
ifndef PYTHON
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$python >/dev/null && $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& command -v $$python && break; done)
endif

# make run: folders to index (this checkout when empty), port and data folder.
DIRS ?=
PORT ?=
DATA ?=

BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run test test-slow check fmt bench eval docs lock environment environment-dev

help: ## This list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: environment ## Index folders and serve agents: make run DIRS="~/notes ~/code/app" [PORT=8420] [DATA=…]
	@exec $(BIN)/armillary up $(or $(DIRS),.) $(if $(PORT),--port $(PORT)) $(if $(DATA),--data "$(DATA)")

test: environment-dev ## The test suite, in a few minutes
	@$(BIN)/python -m pytest -n 2 -m "not server and not slow and not e2e" --cov --cov-report=term:skip-covered

test-slow: environment-dev ## Slow and end-to-end tests: the whole product as processes
	@$(BIN)/python -m pytest -m "slow or e2e"

check: environment-dev ## Style, types, layers, links, locks and generated pages
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/links.py
	@$(BIN)/python tools/reference.py --check
	@$(BIN)/python tools/lock.py --check

fmt: environment-dev ## Format the code
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .

bench: environment-dev ## Speed and memory, beside what others need
	@$(BIN)/python tests/bench/run.py

# make eval: the judged sets' folder, its part, which sets, modes and model, where runs go, and an earlier OUT to compare with.
EVAL_DATA ?= ../shared/eval
SPLIT ?= dev
SETS ?=
MODES ?= keyword,hybrid
MODEL ?= bge-small-en-v1.5
OUT ?=
BEFORE ?=

eval: environment-dev ## Quality of search: make eval [SETS=a,b MODES=keyword,hybrid MODEL=… OUT=DIR BEFORE=DIR]
	@$(BIN)/python -m armillary_cli.evaluation --data $(EVAL_DATA) --split $(SPLIT) --sets "$(SETS)" --modes $(MODES) \
		--model $(MODEL) $(if $(OUT),--out $(OUT)) $(if $(BEFORE),--before $(BEFORE))

docs: environment-dev ## Pages that are made from the code
	@$(BIN)/python tools/reference.py

lock: environment-dev ## The locks anew from the members' metadata (UPGRADE=1: newest versions)
	@$(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

environment environment-dev:
	@test -n "$(PYTHON)" || { echo "armillary: no Python 3.11 or newer was found. Install one (Debian: apt install python3 python3-venv), or name it: make PYTHON=…" >&2; exit 2; }
	@"$(PYTHON)" tools/environment.py $(if $(filter environment-dev,$@),dev,run)
