# Every target makes its own .venv when there is none.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SANITIZED := $(VENV)-sanitize
PIP := -m pip install --quiet --disable-pip-version-check
BUILD_TOOLS := "scikit-build-core>=0.11" "nanobind>=2.7" ninja cmake
INSTALL = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python $(PIP) --no-build-isolation \
  -Ccmake.define.TRELLISWORK_STRICT=ON --editable
EXPERIMENTS ?= table1 figure2 transducer inequality usaddress propbank \
  appendix_b synthetic letters cora punctuation umass soft_small ccm framenet sparsity \
  citations citation_models
# The rooms whose tests run mostly in the core.
CORE_TESTS ?= tests/core tests/automata tests/features tests/inference tests/decoding tests/graphs \
  tests/spans tests/learn tests/taggers
NATIVE := $(shell find cpp bindings -name '*.[ch]pp')

.PHONY: help setup demo test test-torch lint format types tests bench experiments sanitize citation-model docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip

$(STAMP): $(BIN)/python $(NATIVE) CMakeLists.txt pyproject.toml
	$(BIN)/python $(PIP) $(BUILD_TOOLS)
	$(INSTALL) ".[dev]"
	@touch $@

setup: $(STAMP) ## build the extension and install everything for development into .venv

demo: $(STAMP) ## read references in a dozen styles; write BibTeX and a page to build/demo
	@$(BIN)/python examples/demo_citations.py

test: lint types tests ## lint, types, tests, examples and the snippets of the docs

tests: $(STAMP) ## the tests alone
	$(BIN)/python -m pytest -n 2

test-torch: $(STAMP) ## install the torch extra and run the tests that need it
	$(BIN)/python $(PIP) --constraint constraints.txt torch pytorch-crf
	$(BIN)/mypy -p trelliswork.torch
	$(BIN)/python -m pytest tests/with_torch
	$(BIN)/python -m pytest tests/house/test_docs.py tests/house/test_examples.py -k torch

lint: $(STAMP) ## ruff and clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

format: $(STAMP) ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

bench: $(STAMP) ## measure us and the rivals in one run; writes benchmarks/results
	$(BIN)/python $(PIP) --constraint constraints.txt torch
	$(INSTALL) ".[dev,bench]"
	-$(BIN)/python benchmarks/install_old_ad3.py
	$(BIN)/python benchmarks/chunking.py
	$(BIN)/python benchmarks/constraints.py
	$(BIN)/python benchmarks/high_order.py
	$(BIN)/python benchmarks/sparsity.py
	$(BIN)/python benchmarks/soft_constraints.py
	$(BIN)/python benchmarks/few_labels.py
	$(BIN)/python benchmarks/spans.py
	$(BIN)/python benchmarks/torch_layer.py

experiments: $(STAMP) ## the tables and figures of the papers; writes experiments/results
	for name in $(EXPERIMENTS); do $(BIN)/python experiments/$$name.py || exit 1; done

sanitize: ## run the tests of the core under the address and undefined-behaviour sanitizers
	test -x $(SANITIZED)/bin/python || $(PYTHON) -m venv $(SANITIZED)
	$(SANITIZED)/bin/python $(PIP) $(BUILD_TOOLS)
	PATH="$(CURDIR)/$(SANITIZED)/bin:$$PATH" $(SANITIZED)/bin/python $(PIP) \
	  --no-build-isolation --editable ".[dev]" \
	  -Ccmake.define.TRELLISWORK_SANITIZE=ON -Cinstall.strip=false -Cbuild-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  $(SANITIZED)/bin/python -m pytest -p no:xdist \
	  $(CORE_TESTS)

citation-model: $(STAMP) ## train the parser of references that ships with the package again
	$(BIN)/trelliswork cite train --out src/trelliswork/citations/default.tw

docs: $(STAMP) ## build the documentation site into site/
	$(INSTALL) ".[dev,docs]"
	$(BIN)/mkdocs build --strict

clean: ## remove everything that was built
	rm -rf $(VENV) $(SANITIZED) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
