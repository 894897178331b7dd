# Everything happens in .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
ASAN := .venv-asan
CLANG := .venv-clang
CLIENTS := .venv-clients
CXX ?= g++
BIN := $(VENV)/bin
SOURCES := $(wildcard cpp/*/*.?pp cpp/*/*/*.?pp)
BUILD_INPUTS := pyproject.toml CMakeLists.txt constraints.txt $(SOURCES)
# Not compiled beforehand: of what is installed, tests import a part.
PIP := -m pip install --quiet --disable-pip-version-check --no-compile
# Tests run in a process a core, so that threads of BLAS would only be in each other's way.
# What was compiled is kept: it is read by every process and again with the oldest versions.
TEST := OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=
PYTEST := -m pytest -n 2 --dist worksteal
QUICK := "not full and not evidence"
FULL := "not evidence"
NUMERICS := $(BIN)/python $(PYTEST) -m "numerical and not evidence" --hypothesis-profile=full
WIDE := "from numpy._core._multiarray_umath import __cpu_dispatch__ as d, __cpu_features__ as f; print(*(n for n in d if f[n]))"

.DEFAULT_GOAL := help
.PHONY: help demo test test-full lint types layers quick pytest oldest numerics anywhere evidence coverage format docs bench parity sklearn-suite clients asan clang faults faults-full pins stub clean

help:  ## list what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 17

demo: $(VENV)/.installed  ## the main job on bundled data
	$(BIN)/python examples/demo.py

test: lint types layers quick  ## lint, types, layers and the quick tests: minutes

test-full: lint types layers pytest oldest  ## the same with every test, and again with the oldest versions

lint: $(VENV)/.installed  ## ruff and clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(SOURCES)

types: $(VENV)/.installed  ## mypy, strict
	$(BIN)/mypy

layers: $(VENV)/.installed  ## the four contracts: imports point down only
	$(BIN)/lint-imports --no-cache

quick: $(VENV)/.installed  ## the quick tests alone
	$(TEST) $(BIN)/python $(PYTEST) -m $(QUICK)

pytest: $(VENV)/.installed  ## all tests alone
	$(TEST) $(BIN)/python $(PYTEST) -m $(FULL) --hypothesis-profile=full

coverage: $(VENV)/.installed  ## all tests alone, and which lines they reach
	$(TEST) $(BIN)/python $(PYTEST) -m $(FULL) --hypothesis-profile=full --cov --cov-report=term:skip-covered

# What older versions can break are the calls of other libraries: quick tests make all of them.
oldest: $(OLDEST)/.installed  ## the quick tests with the oldest versions of what sortal needs
	$(TEST) $(OLDEST)/bin/python $(PYTEST) -m $(QUICK)

# Last digits depend on which loops BLAS and NumPy choose for a processor. Here are those of 2008,
# with NumPy's narrowest, those of 2013, and those of 2017 where they can run.
numerics: $(VENV)/.installed  ## tests of numbers with the loops of three generations of processors
	OPENBLAS_CORETYPE=Nehalem NPY_DISABLE_CPU_FEATURES="$$($(BIN)/python -c $(WIDE))" $(TEST) $(NUMERICS)
	OPENBLAS_CORETYPE=Haswell $(TEST) OPENBLAS_NUM_THREADS=2 $(NUMERICS)
	if grep -q avx512dq /proc/cpuinfo; then OPENBLAS_CORETYPE=SkylakeX $(TEST) $(NUMERICS); fi

# With loops that keep both cores busy; then on one core, in plain C, with the clock of New Zealand.
anywhere: $(VENV)/.installed  ## all tests in random order on a busy machine, and with another locale and clock
	(while :; do :; done) & one=$$!; (while :; do :; done) & two=$$!; trap "kill $$one $$two" EXIT; \
	  $(TEST) $(BIN)/python $(PYTEST) -m $(FULL) --hypothesis-profile=full --random-order
	LC_ALL=C TZ=Pacific/Auckland $(TEST) taskset -c 0 $(BIN)/python -m pytest -n 1 -m $(FULL) --hypothesis-profile=full

evidence: $(VENV)/.installed  ## what takes longer: simulations, 50,000 hostile files, a thousand examples a law
	$(TEST) $(BIN)/python $(PYTEST) -m "evidence or hypothesis" --hypothesis-profile=evidence

format: $(VENV)/.installed  ## write the code as ruff and clang-format have it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(SOURCES)

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
	$(ASAN)/bin/python -m pytest tests/native tests/summaries tests/tasks tests/trees/test_sklearn.py

clang: $(CLANG)/.installed  ## build with g++ and clang++, warnings being errors; tests of the loops by clang++
	$(CLANG)/bin/python -m pytest tests/native

faults: $(VENV)/.installed  ## what the tests catch: seeded faults, each by the test that caught it before
	$(BIN)/python -m tools.faults --tier quick
	$(BIN)/python -m tools.faults --tier full

faults-full: $(VENV)/.installed  ## the same, forgetting which tests caught them; and 120 random mutants
	$(BIN)/python -m tools.faults --tier quick --forget
	$(BIN)/python -m tools.faults --tier full
	$(BIN)/python -m tools.faults --tier quick --mutants 120
	$(BIN)/python -m tools.faults --tier full --mutants 120

pins: $(VENV)/.installed  ## freeze what users see, or of it NAMES="trees/*": records, outputs, drawings, files
	$(BIN)/python tools/pins.py $(NAMES)

stub: $(VENV)/.installed  ## write the typed stub of the compiled module
	$(BIN)/python -m nanobind.stubgen -m sortal.native._core -o src/sortal/native/_core.pyi

clean:  ## remove what was made
	rm -rf $(VENV) $(OLDEST) $(ASAN) $(CLANG) $(CLIENTS) .build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*

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
SITE = $$($(1)/bin/python -c 'import site; print(site.getsitepackages()[0])')
BORROW = $(PYTHON) -m venv --clear $(1) && echo "$(call SITE,$(VENV))" > "$(call SITE,$(1))/borrowed.pth"

$(ASAN)/.installed: $(VENV)/.installed $(BUILD_INPUTS)
	$(call BORROW,$(ASAN))
	$(ASAN)/bin/python $(PIP) --no-deps --no-build-isolation -C build-dir=.build/asan \
	  -C cmake.build-type=RelWithDebInfo \
	  -C cmake.define.CMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=all" .
	touch $@

# The last of the two is the one that stays.
$(CLANG)/.installed: $(VENV)/.installed $(BUILD_INPUTS)
	$(call BORROW,$(CLANG))
	for compiler in g++ clang++; do \
	  CXX=$$compiler $(CLANG)/bin/python $(PIP) --force-reinstall --no-deps --no-build-isolation \
	    -C build-dir=.build/$$compiler -C cmake.define.SORTAL_WERROR=ON . || exit 1; \
	done
	touch $@
