# Everything runs in .venv, which the first target that needs it makes. Needed beforehand: Python
# 3.10 or newer, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
MARKS ?= not slow
PYTEST_FLAGS ?= -n 2

.DEFAULT_GOAL := help
.PHONY: help install demo test test-all lint format docs docs-check bench-models clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST) | expand -t 20

# torch goes first, alone and by this exact version: a later resolution then finds it in place.
$(INSTALLED): pyproject.toml setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install torch==2.13.0
	$(BIN)/pip install -e '.[dev,server,review]'
	touch $@

install: $(INSTALLED) ## make .venv with torch, tclint and the tools that work on it

demo: $(INSTALLED) ## find, fix and verify two small programs
	$(BIN)/python scripts/demo.py

test: $(INSTALLED) ## run the tests that take seconds
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m "$(MARKS)"

test-all: ## run the slow tests too: environments, compilers, real pre-commit
	@$(MAKE) test MARKS="slow or not slow"

lint: $(INSTALLED) ## check the sources, with tclint itself too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/tclint check tclint rules

format: $(INSTALLED) ## format the sources and apply ruff's safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## write the documentation's generated pages
	$(BIN)/python -m scripts.docs

docs-check: $(INSTALLED) ## fail when the generated pages are out of date
	$(BIN)/python -m scripts.docs --check

bench-models: $(INSTALLED) ## recall, precision and silence on real models
	$(BIN)/pip install transformers==5.23.0 diffusers==0.42.1 scipy
	$(BIN)/python -m benchmarks.models --markdown docs/benchmark-models.md

bench-%: $(INSTALLED) ## bench-NAME runs benchmarks/NAME.py
	$(BIN)/python -m benchmarks.$*

clean: ## remove .venv and everything that can be made again
	rm -rf $(VENV) build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .tclint_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
