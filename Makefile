# make demo    see it work on real documents      make test    check everything
# Both do all the set-up by themselves; the second call is quick.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# thousands of tests and commands would compile the same modules anew
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BASE_READY := .venvs/base/.ready
LIVE := build/live/.ready
SOURCES := $(shell find src -type f -not -name '*.pyc')

say = @printf '\033[1m%s\033[0m\n' '$(1)'

.PHONY: help setup demo test check static kernels tests beside coverage soak licences size bounds base browser postgresql java packages bench docs site screenshots format clean clean-all

help:  ## print this list
	@grep -hE '^[a-z-]+:.*  ## ' Makefile | sed -E 's/^([a-z-]+):.*  ## (.*)/make \1\t\2/' | expand -t 18

setup: $(READY)  ## make the environment in .venv

demo: $(READY)  ## find the near-duplicates among the licence files of this machine
	@$(BIN)/python examples/demo.py --out demo-out

test:  ## run everything that CI runs; install chromium, PostgreSQL, Java and language data if permitted
	@start=$$SECONDS; $(MAKE) browser postgresql java packages check; \
	took=$$((SECONDS - start)); printf 'make test took %d min %d s.\n' $$((took / 60)) $$((took % 60))

# an environment is made on one core; the other makes the second environment meanwhile
# the kernels first: whatever comes after finds them compiled, and no two workers compile the same; then what
# needs one core beside the tests, which wait for servers now and then
check:  ## the same without installing chromium, PostgreSQL, Java and language data
	@$(MAKE) -j2 $(READY) $(BASE_READY)
	@$(MAKE) -j2 static kernels
	@$(MAKE) -j2 tests beside
	@cat build/beside.log
	$(call say,All checks passed.)

static: $(READY)
	$(call say,Style)
	@$(BIN)/ruff check --quiet --output-format concise
	@$(BIN)/ruff format --check --quiet || { echo "Run: make format"; exit 1; }
	$(call say,Types)
	@$(BIN)/mypy --no-error-summary
	$(call say,Layers)
	@$(BIN)/lint-imports --no-logo > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }
	$(call say,Licences)
	@$(BIN)/python scripts/licences.py > .venv/licences.log

kernels: $(READY)
	$(call say,Tests of kernels)
	@$(BIN)/pytest -q -n2 tests/unit/kernels

tests: $(READY)
	$(call say,Tests: code$(COMMA) doctests$(COMMA) documentation)
	@$(BIN)/pytest -q --ignore=tests/unit/kernels --maxfail=10

# what runs in this process and needs no cluster; the tests of damage go over the same lines again and again
coverage: $(READY)  ## measure the coverage of the tests that need no cluster; fail if it is too low
	@$(BIN)/pytest -q tests/unit tests/contract tests/functional/jobs --cov --cov-report=term:skip-covered \
		--ignore-glob='*/contract/test_engines_*' --ignore-glob='*/contract/test_spark_*' \
		--ignore=tests/contract/test_cluster_needs.py --ignore=tests/contract/test_damage.py

soak: $(READY)  ## run the exhaustive tests before a release (hours)
	@$(BIN)/pytest -q -m "soak or hypothesis" --hypothesis-profile soak --timeout=0

licences: $(READY)  ## list the licences of all libraries; fail if one is not permissive
	@$(BIN)/python scripts/licences.py

size:  ## count code by room, imports, tests, words of docs, commands and options
	@$(PYTHON) scripts/size.py

beside: $(READY)
	@mkdir -p build
	@$(MAKE) base site bounds > build/beside.log 2>&1 || { cat build/beside.log; exit 1; }

# numba reads its bounds checking from the environment, and keeps compiled code apart only when told where; in one process,
# for each worker would compile again what kernels share, and the tests beside this need the cores; compiled with less
# optimization, which takes less time and checks the same indices
bounds: $(READY)
	$(call say,Kernels with bounds checked)
	@NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR=$(CURDIR)/.venvs/bounds $(BIN)/pytest -q -n0 -p no:cacheprovider tests/unit/kernels \
		--ignore=tests/unit/kernels/test_compiled_first.py --ignore=tests/unit/kernels/test_jit.py -k "not every_character"

base: $(BASE_READY)
	$(call say,Wheel and sdist; the wheel in an environment without extras)
	@.venvs/base/bin/python -I scripts/check_distribution.py build/dist
	@.venvs/base/bin/python -I scripts/check_base_install.py

browser:
	@bash scripts/browser.sh

postgresql:
	@bash scripts/postgresql.sh

java:
	@bash scripts/java.sh

packages:
	@bash scripts/small_packages.sh

bench: $(READY)  ## compare Nearkin with other tools on one corpus (minutes)
	@$(BIN)/python -m benchmarks

docs: $(READY)  ## rewrite docs/reference/cli.md, the tables, and the output of commands on the pages
	@$(BIN)/python scripts/cli_reference.py docs/reference/cli.md
	@$(BIN)/python scripts/schema_page.py docs/reference/tables.md
	@$(BIN)/python scripts/refresh_pages.py

site: $(READY) $(LIVE)  ## build the documentation site in build/site
	$(call say,Site)
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site
	@mkdir -p build/site/live && cp build/live/*.html build/site/live

screenshots: $(READY) browser  ## retake the pictures of the documentation
	@$(BIN)/python scripts/screenshots.py

format: $(READY)  ## format the code
	@$(BIN)/ruff check --quiet --fix || true
	@$(BIN)/ruff format --quiet

clean:  ## remove outputs and caches
	rm -rf demo-out benchmarks/out build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .venvs/bounds
	find src tests examples benchmarks scripts -name __pycache__ -prune -exec rm -rf {} +

clean-all: clean  ## remove the environments too
	rm -rf .venv .venvs

COMMA := ,

$(READY): pyproject.toml constraints.txt scripts/environment.sh
	@bash scripts/environment.sh .venv "$(PYTHON)" --no-compile --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(LIVE): $(READY) $(SOURCES) scripts/example_pages.py $(wildcard examples/*.py)
	$(call say,Pages of the examples)
	@$(BIN)/python scripts/example_pages.py build/live
	@touch $@

$(BASE_READY): pyproject.toml constraints.txt scripts/environment.sh README.md $(SOURCES)
	@bash scripts/environment.sh .venvs/base "$(PYTHON)" --constraint constraints.txt build
	@rm -rf build/dist && mkdir -p build
	@.venvs/base/bin/python -m build --outdir build/dist > build/dist.log 2>&1 || { cat build/dist.log; exit 1; }
	@.venvs/base/bin/python -m pip uninstall -qq -y --root-user-action ignore nearkin
	@bash scripts/environment.sh .venvs/base "$(PYTHON)" --no-compile --constraint constraints.txt build/dist/nearkin-*.whl
	@touch $@
