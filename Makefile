# Two commands do everything: `make demo` shows what Trifold does, `make test` checks it.
# Both build their own environment in .venv from the locked versions in constraints.txt.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test crash results lint types clean

demo: .venv/installed
	$(BIN)/python experiments/demo.py

test: lint types
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

crash: .venv/installed  # 200 kills at random moments: nothing lost, torn or left behind
	$(BIN)/python tests/fuzz/crash.py --count 200

results: .venv/installed  # docs/results.md from the records in experiments/
	$(BIN)/trifold table experiments/results experiments/lama --format page --notes experiments/tried.md \
	  $(addprefix --references ,$(sort $(wildcard experiments/references*.jsonl))) > docs/results.md

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trifold needs Python 3.11 or newer; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf .venv
