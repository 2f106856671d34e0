# Two commands do everything: `make demo` shows what Trifold does, `make test` checks it. `make check` is for the minute
# before a commit: format, lint, types and the quick tests. `make fuzz` goes on checking for as long as it is told to:
# `make fuzz MINUTES=60 SEED=1`, or until it has tried a number of inputs of each kind: `make fuzz COUNT=5000`.
# They build their own environment in .venv from the locked versions in constraints.txt.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo check test browser fuzz crash results domains docs lint types clean

demo: .venv/installed
	$(BIN)/python experiments/demo.py

check: lint types
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup -m 'not slow'

test: lint types  # and which share of the lines ran in the tests' own processes: what commands run as children is not seen
	@mkdir -p build
	$(BIN)/python -m slipcover --source src/trifold --out build/coverage.txt -m pytest -q -n 2 --dist loadgroup
	@awk 'END { print $$4 " % of " $$2 " lines of src ran; build/coverage.txt names the others" }' build/coverage.txt

browser: .venv/installed  # the pages and the site in Chromium
	@command -v chromium || command -v chromium-browser || command -v google-chrome || { echo 'needs Chromium: apt-get install chromium'; exit 1; }
	$(BIN)/python -m pytest -q -rs tests/pages/test_browser.py tests/pages/test_seen.py \
	  tests/pages/test_report_browser.py tests/experiments/test_site.py

MINUTES ?= 10
SEED ?= 0
fuzz: .venv/installed
	PYTHONPATH=tests $(BIN)/python -m fuzz --seed $(SEED) --findings build/fuzz \
	  $(if $(COUNT),--count $(COUNT),--minutes $(MINUTES)) $(if $(CORPUS),--corpus $(CORPUS))

crash: .venv/installed  # 200 kills at random moments: nothing lost, torn or left behind
	PYTHONPATH=tests $(BIN)/python -m fuzz.crash --count 200 --seed $(SEED)

results: .venv/installed  # docs/results.md and its picture from the records in experiments/
	$(BIN)/python experiments/coverage_picture.py experiments/results > docs/architectures.svg
	$(BIN)/python experiments/results_page.py experiments/results experiments/lama --notes experiments/tried.md \
	  --reading experiments/reading.md $(addprefix --references ,$(sort $(wildcard experiments/references*.jsonl))) > docs/results.md

domains: build/labels.json  # docs/domains.md from the suite, which is drawn in a minute and labelled in hours
	$(BIN)/python experiments/domains_page.py build/suite --labels $< > docs/domains.md

build/labels.json: | .venv/installed
	$(BIN)/trifold generate --suite paper --out build/suite
	$(BIN)/trifold label build/suite --json > $@.part
	mv $@.part $@

docs: .venv/installed  # the site in build/site, from docs/ and from what it makes itself: strictly, so a dead link is an error
	$(BIN)/mkdocs build --strict --quiet
	@echo build/site/index.html

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

.venv/installed: pyproject.toml setup.py constraints.txt $(wildcard src/trifold/native/source/*)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trifold needs Python 3.11 or newer; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv
