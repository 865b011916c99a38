# Every target makes its own .venv first; nothing needs to be done before.
PYTHON ?= python3
BIN := .venv/bin
THREADS := OMP_NUM_THREADS=1

.PHONY: test demo lint bench clean

test: .venv/ready
	$(THREADS) $(BIN)/python -m pytest -n 2

demo: .venv/ready
	$(BIN)/wiser demo

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/bench
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf .venv

# torch goes in first and pinned: a free choice would pull gigabytes of CUDA onto machines without a GPU.
.venv/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .[dev]
	touch $@

# sheeprl goes in alone: it asks for a second OpenCV, which would overwrite ours, and for packages an update never uses.
.venv/bench: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .[dev,bench,peers]
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps sheeprl
	touch $@
