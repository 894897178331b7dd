# Everything happens in .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
ASAN := .venv-asan
CLIENTS := .venv-clients
CXX ?= g++
BIN := $(VENV)/bin
BUILD_INPUTS := pyproject.toml CMakeLists.txt constraints.txt $(wildcard cpp/*)
# Not compiled beforehand: of what is installed, tests import a part.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# Tests run in a process a core, so that threads of BLAS would only be in each other's way.
# What was compiled is kept: it is read by every process and again with the oldest versions.
TEST := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.DEFAULT_GOAL := help
.PHONY: help demo test lint types layers pytest oldest coverage format docs bench parity sklearn-suite clients asan faults faults-full stub clean

help:  ## list what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 17

demo: $(VENV)/.installed  ## the main job on bundled data
	$(BIN)/python examples/demo.py

test: lint types layers pytest oldest  ## lint, types, layers and every test, which run the documentation

lint: $(VENV)/.installed  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed  ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.installed  ## the floors: imports point down only
	$(BIN)/lint-imports --no-cache

pytest: $(VENV)/.installed  ## the tests alone
	$(TEST) $(BIN)/python -m pytest -n 2 --dist worksteal

coverage: $(VENV)/.installed  ## the tests alone, and which lines they reach
	$(TEST) $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered

# What older versions can break are the doors, where other libraries are called. Compiled loops, laws
# and what oracles or refits compare know of none, nor do a tree on paper, the reasons of a model,
# moments, large tables and blocks of rows; and what a browser makes of a page, which is written here
# by test_report.
oldest: $(OLDEST)/.installed  ## the tests with the oldest versions of what sortal needs
	$(TEST) $(OLDEST)/bin/python -m pytest -n 2 --dist worksteal --ignore=tests/test_docs.py --ignore=tests/native \
	  --ignore=tests/learners --ignore-glob='*oracle*' --ignore-glob='*_laws*' \
	  --ignore-glob='*_leave_out*' --ignore-glob='*test_hostile*' --ignore-glob='*test_tree_html*' \
	  --ignore-glob='*test_tree_part*' --ignore=tests/views/deciding \
	  --ignore=tests/estimators/test_tree_weights.py --ignore=tests/summaries/test_class_moments.py \
	  --ignore-glob='*_explain*' --ignore-glob='*_loo.py' --ignore-glob='*_large.py' \
	  --ignore=tests/test_engine_only.py \
	  --ignore=tests/views/test_tree_layout.py --ignore=tests/tasks/reporting/test_page.py

format: $(VENV)/.installed  ## write the code as ruff has it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.installed  ## run the documentation again and write its outputs
	$(BIN)/python tools/model_schema.py
	$(BIN)/python tools/model_tables.py
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/pictures.py
	$(BIN)/python tools/tree_pictures.py --check
	$(BIN)/python tools/report_pictures.py --check

bench: $(VENV)/.bench  ## side by side with peers; results into bench/results.md
	$(BIN)/python bench/run.py

parity: $(VENV)/.installed  ## rerun the frozen numbers where R is installed, with MASS, rpart, class and cluster
	$(BIN)/python tools/parity/run.py
	$(BIN)/python tools/parity/rpart_costs.py
	$(BIN)/python -m tools.parity.run_statistics
	$(BIN)/python -m tools.parity.run_neighbors

sklearn-suite: $(VENV)/.installed  ## the installed scikit-learn's own tests, run on sortal's classifiers
	$(TEST) $(BIN)/python -m tests.sklearn_suite

clients: $(CLIENTS)/.installed  ## what works with sortal's classifiers: pipelines, searches, stores, explainers
	$(TEST) $(CLIENTS)/bin/python -m tests.clients

asan: $(ASAN)/.installed  ## tests of the compiled loops under sanitizers
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
	$(ASAN)/bin/python -m pytest tests/native tests/summaries tests/tasks

faults: $(VENV)/.installed  ## what the tests catch: seeded faults, each by the test that caught it before
	$(BIN)/python -m tools.faults

faults-full: $(VENV)/.installed  ## the same, forgetting which tests caught them; and 120 random mutants
	$(BIN)/python -m tools.faults --forget
	$(BIN)/python -m tools.faults --mutants 120 --seed 0

stub: $(VENV)/.installed  ## write the typed stub of the compiled module
	$(BIN)/python -m nanobind.stubgen -m sortal.native._core -o src/sortal/native/_core.pyi

clean:  ## remove what was made
	rm -rf $(VENV) $(OLDEST) $(ASAN) $(CLIENTS) .build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip -c constraints.txt

# Editable, without build isolation: Python files come from src, and a second build is quick.
$(VENV)/.installed: $(VENV)/bin/python $(BUILD_INPUTS)
	$(BIN)/python $(PIP) -c constraints.txt scikit-build-core nanobind cmake ninja
	$(BIN)/python $(PIP) -c constraints.txt --no-build-isolation --editable '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.installed bench/requirements.txt
	$(BIN)/python $(PIP) -c constraints.txt -r bench/requirements.txt
	touch $@

# Other people's packages, which sortal must not come to need: in an environment of their own.
$(CLIENTS)/.installed: tests/clients/requirements.txt $(BUILD_INPUTS)
	$(PYTHON) -m venv $(CLIENTS)
	$(CLIENTS)/bin/python $(PIP) -c constraints.txt scikit-build-core nanobind cmake ninja
	$(CLIENTS)/bin/python $(PIP) -c constraints.txt --no-build-isolation -C build-dir=.build/clients --editable .
	$(CLIENTS)/bin/python $(PIP) -c constraints.txt -r tests/clients/requirements.txt
	touch $@

$(OLDEST)/.installed: constraints-oldest.txt $(BUILD_INPUTS)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python $(PIP) -c constraints-oldest.txt scikit-build-core nanobind cmake ninja
	$(OLDEST)/bin/python $(PIP) -c constraints-oldest.txt --no-build-isolation -C build-dir=.build/oldest --editable '.[test]'
	touch $@

# Everything but sortal itself is borrowed from .venv; a plain path does not bring its editable hook.
$(ASAN)/.installed: $(VENV)/.installed $(BUILD_INPUTS)
	$(PYTHON) -m venv --clear $(ASAN)
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' \
	  > "$$($(ASAN)/bin/python -c 'import site; print(site.getsitepackages()[0])')/borrowed.pth"
	$(ASAN)/bin/python $(PIP) --no-deps --no-build-isolation -C build-dir=.build/asan \
	  -C cmake.build-type=RelWithDebInfo \
	  -C cmake.define.CMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all" .
	touch $@
