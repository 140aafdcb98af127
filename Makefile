# Two commands do everything: `make demo` and `make test`. Each makes its own .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test format lint types imports unit wheel bench bench-check clean

demo: $(VENV)/.ready
	@$(BIN)/python examples/demo.py

test: lint types imports unit bench-check wheel

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.ready
	$(BIN)/mypy

imports: $(VENV)/.ready
	$(BIN)/lint-imports

unit: $(VENV)/.ready
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses auto
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

wheel: $(VENV)/.ready
	$(BIN)/python tests/check_wheel.py

bench: $(VENV)/.ready
	$(BIN)/python -m bench

bench-check: $(VENV)/.ready
	$(BIN)/python -m bench --check

clean:
	rm -rf $(VENV) dist build
