# Every command that people and CI run. `make demo` and `make test` need only python3, pip, git and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What `make prove` takes as changed.
SINCE ?= HEAD~20
WHOLE_RUNS := tests/end_to_end tests/epics
PROPERTIES := tests/core tests/contracts
TEST_STAMP := $(VENV)/.installed-for-tests
DOCS_STAMP := $(VENV)/.installed-for-docs

.PHONY: demo test check prove mutants wheel docs format bench clean

$(STAMP): pyproject.toml
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install --user --quiet virtualenv && $(PYTHON) -m virtualenv --quiet $(VENV); }
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# The clients of the vendors are large, and only the tests need them. Most of what comes with them is never imported.
$(TEST_STAMP): $(STAMP)
	@$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev,clients,mcp]'
	@touch $@

## The main job, shown: a rehearsed run of the loop, round by round.
demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh demo/run.sh

## Lint, formatting, types, layers and dependencies: one door, here and in CI.
check: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache
	$(BIN)/deptry src
	$(BIN)/python docs/diagrams.py --check
	$(BIN)/python docs/seeds.py --check
	$(BIN)/python docs/reference.py --check

# The tests wait for much of their time, so three workers keep two cores busy; the long ones come last, so work is stolen.
test: check
	$(BIN)/pytest -n 3 --dist worksteal -m "not prove" $(PYTEST_OPTIONS)

## The long proofs: more kills, more random runs, fuzzing, mutants. Run before a capability is called done.
# All tests, each once: whole runs with their next steps typed, properties with more examples.
prove: check
	$(BIN)/python -m pip install --quiet --editable '.[prove]'
	$(BIN)/pytest -n 3 --dist worksteal -m "not prove" $(addprefix --ignore=,$(WHOLE_RUNS) $(PROPERTIES))
	$(BIN)/pytest -n 3 --dist worksteal -m "not prove" --type-next-steps $(WHOLE_RUNS)
	$(BIN)/pytest -n 3 --dist worksteal -m "not prove" --hypothesis-profile=prove $(PROPERTIES)
	$(BIN)/pytest -n 3 --dist worksteal -m "prove and not alone"
	$(BIN)/pytest -m alone
	$(BIN)/python tests/fuzz/run.py --jobs 2
	$(BIN)/python tests/mutation/run.py --since $(SINCE)

## Every mutant of the core: half an hour and more.
mutants: $(TEST_STAMP)
	$(BIN)/python tests/mutation/run.py --minutes 120

## A wheel in dist/ that installs everything a review needs.
wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# Without a network, once the tool is installed. A broken link or anchor, or a page without a place in the navigation, fails.
$(DOCS_STAMP): $(STAMP)
	@$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

## The documentation site, in site/.
docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

## Figures, as ratios to a limit or a peer measured in the same run.
bench: $(TEST_STAMP)
	$(BIN)/python -m benchmarks

format: $(TEST_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .work .pytest_cache .ruff_cache .hypothesis mutants dist site
