# These commands do everything on a machine with python3 (3.11+, on Debian and Ubuntu with python3-venv), make and git:
#   make demo    real people's answers through the whole path
#   make test    everything that CI proves
#   make test-fast    of that, what takes less than a minute together
#   make test-r  what only R can prove: that its scripts say the same
#   make test-engines    that Spark counts what DuckDB counts

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WEB := client/deniable_web
# npm writes this file when all modules are there.
MODULES := $(WEB)/node_modules/.package-lock.json
# An environment without pip is what a start that failed left behind.
WITHOUT_HALF = test -e $(BIN)/pip || rm -rf $(VENV)
PIP := $(BIN)/python -m pip --disable-pip-version-check
TOOL := $(BIN)/python -m tools.programs
# Compiled modules are kept even where the environment says otherwise: tests start three times as fast.
# OpenBLAS has one thread a process: there are as many processes as cores, and its threads wait by spinning.
PYTEST := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --dist worksteal
# Once for all workers, each of which would spend 8 s of CPU time on it in a fresh checkout.
PREPARED = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m tools.prepared
JAVASCRIPT_TESTS = $(TOOL) node --test --test-concurrency=4 $$(find tests/web -name '*.test.js')
FAST_JAVASCRIPT_TESTS = $(TOOL) node --test --test-concurrency=4 tests/web/*.test.js
DEMO ?=
TORTURE ?=
MUTANTS ?=
PLANTED ?=
RELEASE ?=
PINNED = printf 'hatchling\nhatch-vcs\n' | $(BIN)/uv pip compile --quiet --no-config pyproject.toml - --constraint constraints.txt \
	--universal --python-version 3.11 --generate-hashes --no-annotate --no-header

.PHONY: help demo test tests test-javascript test-fast test-engines test-long test-r lint format docs site tutorials release pictures vectors tables requirements machine bench torture mutants planted clean libraries browsers modules compiled programs

help:
	@sed -n 's/^#   //p' Makefile
	@echo "also: site (the documents as pages, in build/site), lint, format, docs (generated pages), tutorials (run, with what they print), release (built twice and tried), pictures (of the README), vectors (for both languages), tables (what mechanisms cost),"
	@echo "requirements (both files of them, with hashes, from constraints.txt), machine (the tutorial for institutions on a machine with systemd; MACHINE=place for a place), bench,"
	@echo "torture (hours of faults in minutes; TORTURE='--short kill' for one, in short),"
	@echo "mutants (whether tests notice mistakes made on purpose; MUTANTS=exact for one room, all take 40 minutes),"
	@echo "planted (whether the audit notices faults in the clients; PLANTED=memory for one family), clean"

demo: $(VENV)/demo.installed
	$(BIN)/deniable demo $(DEMO)

# Types and style are checked beside the tests, because mypy keeps one core busy for a minute.
test: $(VENV)/test.installed
	@$(MAKE) --no-print-directory --jobs 2 lint tests

tests: test-javascript
	$(PREPARED)
	$(PYTEST) --numprocesses auto --maxprocesses 4 -m "not (engines or long or r)"

test-javascript: $(VENV)/test.installed
	$(JAVASCRIPT_TESTS)

test-fast: $(VENV)/test.installed
	$(FAST_JAVASCRIPT_TESTS)
	$(PYTEST) --numprocesses 2 --ignore tests/browser -m "not (browser or engines or fuzz or long or r or simulation or slow)"

test-long: $(VENV)/test.installed
	$(BIN)/python -m tools.packages install-servers
	$(BIN)/python -m tools.packages install-latex
	$(PREPARED)
	$(PYTEST) --numprocesses auto --maxprocesses 4 -m long

test-r: $(VENV)/test.installed
	$(BIN)/python -m tools.packages install-r
	$(PYTEST) -m r tests

test-engines: $(VENV)/test.installed
	$(BIN)/python -m tools.packages install-java
	$(PIP) install --quiet --constraint constraints.txt pyspark
	$(PYTEST) -m engines tests

lint: $(VENV)/test.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(TOOL) npm --prefix $(WEB) run --silent check

format: $(VENV)/test.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/test.installed
	$(BIN)/python -m tools.make_docs
	$(BIN)/python -m tools.make_notebook

# A link that leads nowhere, a page behind no door and a docstring that Sphinx cannot read are errors.
site: $(VENV)/test.installed
	$(BIN)/python -m sphinx -c tools/site -W --keep-going --quiet -d build/doctrees -b html docs build/site
	@echo "Open build/site/index.html in a browser; it needs no server and no network."

tutorials: $(VENV)/test.installed
	$(BIN)/python -m tools.tutorials

# Built twice, tried in clean environments of every Python that is here: RELEASE='--without 3.14' for one that cannot be had.
release: $(VENV)/test.installed
	$(PIP) install --quiet --constraint constraints.txt --group release
	$(BIN)/python -m tools.release $(RELEASE)

# As root on Linux, where apt and debootstrap are: a Debian with systemd, nginx, PostgreSQL and Prometheus in a folder.
# MACHINE=place: a place, with a collector beside it and people who answer.
machine: $(VENV)/test.installed
	$(BIN)/python -m tools.packages install-debootstrap
	$(BIN)/python -m tools.machine $(MACHINE)

pictures: $(VENV)/test.installed
	$(BIN)/python -m tools.screenshots

vectors: $(VENV)/test.installed
	$(BIN)/python -m tools.make_vectors

tables: $(VENV)/test.installed
	$(BIN)/python -m tools.tables

# For every Python and system that we support: all there is, and what a collector or a place takes. The files name no host:
# hashes hold wherever the files come from.
requirements: $(VENV)/python.installed
	$(PIP) install --quiet --constraint constraints.txt uv
	$(PINNED) --extra server --extra figures --extra postgresql --extra research --extra files --extra engine --extra audit --extra sealed --output-file requirements.txt
	$(PINNED) --extra server --extra postgresql --output-file deploy/requirements.txt

bench: $(VENV)/test.installed $(VENV)/bench.installed
	$(BIN)/python -m tools.bench $(VENV)/bench/bin/python

torture: $(VENV)/test.installed
	$(BIN)/python -m tools.torture $(TORTURE)

mutants: $(VENV)/test.installed
	$(PIP) install --quiet --constraint constraints.txt --group mutants
	$(BIN)/python -m tools.mutants $(MUTANTS)

planted: $(VENV)/test.installed
	$(BIN)/python -m tools.planted $(PLANTED)

clean:
	rm -rf $(VENV) $(WEB)/node_modules .mutants .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Without a network pip speaks of versions that conflict.
UNFETCHED = echo "The packages could not be installed. If this machine has no network, or pip cannot reach its index, nothing else is wrong: run make again once it can." >&2

$(VENV)/python.installed: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name it with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(WITHOUT_HALF)
	@$(PYTHON) -c 'from ensurepip import version' 2> /dev/null \
		|| { $(PYTHON) -c 'import sys; sys.exit("%s lacks ensurepip, which a virtual environment takes. On Debian and Ubuntu: apt install python%d.%d-venv" % (sys.executable, *sys.version_info[:2]))'; exit 1; }
	$(PYTHON) -m venv $(VENV) || { $(WITHOUT_HALF); exit 1; }
	$(PIP) install --quiet --constraint constraints.txt --upgrade pip || { $(UNFETCHED); exit 1; }
	touch $@

$(VENV)/demo.installed: $(VENV)/python.installed pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --build-constraint constraints.txt --editable '.[server]' || { $(UNFETCHED); exit 1; }
	touch $@

# All that the demo needs is among it. What needs no library of Python comes meanwhile.
$(VENV)/test.installed: $(VENV)/python.installed pyproject.toml $(WEB)/package-lock.json tools/programs.py
	@$(MAKE) --no-print-directory --jobs 3 libraries browsers modules
	touch $(VENV)/demo.installed
	@$(MAKE) --no-print-directory --jobs 2 compiled programs
	touch $@

libraries:
	$(PIP) install --quiet --no-compile --constraint constraints.txt --build-constraint constraints.txt --editable '.[server,postgresql,research,files,engine]' --group dev --group site || { $(UNFETCHED); exit 1; }

browsers:
	@$(PYTHON) -m tools.programs browsers

# Where the system has no Node.js, the one from PyPI brings them later.
modules:
	@! $(PYTHON) -m tools.programs node --version > /dev/null 2>&1 || $(MAKE) --no-print-directory --silent TOOL='$(PYTHON) -m tools.programs' $(MODULES)

$(MODULES): $(WEB)/package-lock.json
	$(TOOL) npm --prefix $(WEB) ci --no-fund --no-audit --loglevel error
	touch $@

# pip would compile on one core, and the tests of all packages too, as well as what no test imports.
# What does not compile is a template.
compiled:
	@$(BIN)/python -W ignore -m compileall -qq -j 0 -x '/site-packages/(.*/tests|mypyc?|pip|pkg_resources|pygments/lexers|setuptools)/' $(VENV)/lib || true

programs:
	$(TOOL) install
	@$(MAKE) --no-print-directory --silent $(MODULES)

# Other libraries, to compare with, in an environment of their own: what two of them import but do not ask for is named.
$(VENV)/bench.installed: $(VENV)/python.installed tools/bench/others.py
	$(PYTHON) -m venv $(VENV)/bench
	$(VENV)/bench/bin/python -m pip install --quiet --disable-pip-version-check \
		pure-ldp==1.2.0 multi-freq-ldpy==0.2.5 opendp==0.16.0 scikit-learn statsmodels matplotlib
	touch $@
