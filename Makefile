# The doors. `make help` lists them; each installs what it needs into .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow redteam check fresh bench bench-gpu generate clean

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

demo: $(VENV)/run  ## three verdicts in a temporary folder: emulated HIP, a faster candidate, a wrong one
	@bash docs/demo.sh $(CURDIR)/$(BIN)

test: $(VENV)/dev  ## the quick tests
	$(BIN)/pytest -q -n 2 -m "not slow and not alone"
	$(BIN)/pytest -q -m "alone and not slow"

test-slow: $(VENV)/dev  ## the long ones: matrices of compilers and warp sizes, sanitizers, fuzzing, the wheel
	$(BIN)/pytest -q -n 2 -m "slow and not alone"
	$(BIN)/pytest -q -m "alone and slow"

redteam: $(VENV)/dev  ## every attack against the judge, and every honest candidate: one table
	$(BIN)/python tests/cheats/redteam.py

check: $(VENV)/dev fresh  ## style, types, storeys, generated files, the packs that ship
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/taskpack check packs

fresh: $(VENV)/dev  ## whether what is generated is up to date
	@made=$$(mktemp -d) && ln -s $(CURDIR)/tests $$made/tests && mkdir -p $$made/schemas $$made/docs/reference \
	&& $(BIN)/python -m taskpack.packs.generate $$made && $(BIN)/python -m taskpack.cli.reference $$made/docs/reference/cli.md \
	&& diff -r -x run.schema.json -x unit.schema.json -x result.schema.json schemas $$made/schemas && diff -r docs/reference $$made/docs/reference && diff packs/knowledge/rules.json $$made/packs/knowledge/rules.json && rm -r $$made \
	|| { echo 'error: generated files are old: `make generate` writes them anew' >&2; exit 1; }

generate: $(VENV)/dev  ## write schemas/ and docs/reference/ anew
	$(BIN)/python -m taskpack.packs.generate
	$(BIN)/python -m taskpack.cli.reference docs/reference/cli.md

bench: $(VENV)/dev  ## what taskpack itself costs
	$(BIN)/python benchmarks/cost.py

bench-gpu: $(VENV)/dev  ## a unit of each of the three systems on this machine's GPU, into benchmarks/results/
	$(BIN)/python benchmarks/first_light.py benchmarks/results

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'error: taskpack needs Python 3.11 or later; name one: make PYTHON=python3.12' >&2; exit 3; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) install -q -c constraints.txt -e '.[run]'
	@touch $@

$(VENV)/dev: $(VENV)/run
	$(PIP) install -q 'pip>=25.1'
	$(PIP) install -q -c constraints.txt --group dev -e '.[models]'
	@touch $@
