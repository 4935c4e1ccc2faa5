# Every target makes its own .venv when there is none.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := $(wildcard cpp/* bindings/*) CMakeLists.txt pyproject.toml

.PHONY: help setup demo test test-torch test-all lint format types bench sanitize docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(STAMP): $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.7" ninja cmake
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]"
	@touch $@

setup: $(STAMP) ## build the extension and install everything for development into .venv

demo: $(STAMP) ## train a citation tagger on the shipped works and parse fresh references
	@$(BIN)/python examples/demo_citations.py

test: lint types $(STAMP) ## lint, types, tests, examples
	$(BIN)/python -m pytest -n 2

test-torch: $(STAMP) ## install the torch extra and run the tests that need it
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pytest tests/torch

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror cpp/*.hpp cpp/*.cpp bindings/*.hpp bindings/*.cpp

format: $(STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i cpp/*.hpp cpp/*.cpp bindings/*.hpp bindings/*.cpp

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy
