# make run: set up, then the Rule agent and a trained planner read recordings online; tables of scores,
# and a page of each run.
# make test: set up everything the tests need, then run them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DATA ?= $(or $(ECGSCROLL_DATA),$(firstword $(wildcard data ../shared/data)))
RUNS ?= runs
MITDB := $(firstword $(wildcard $(DATA)/mitdb/*.dat))
CORE := $(firstword $(foreach db,mitdb afdb ltafdb edb,$(wildcard $(DATA)/$(db)/*.atr)))
COMMA := ,
WORKERS ?= 2
export ECGSCROLL_CACHE ?= $(CURDIR)/.cache
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test lint format bench accuracy strips picture clean

RULE := $(BIN)/ecgscroll run --policy rule --workers $(WORKERS)
TRAINED := $(BIN)/ecgscroll run --policy neural --workers $(WORKERS)
PAGE := $(BIN)/ecgscroll report
CHROMIUM ?= $(firstword $(shell command -v chromium chromium-browser google-chrome))

# Real recordings where there are some, else the embedded synthetic default; run again, it resumes.
run: $(VENV)/.core
ifneq ($(DATA),)
	$(RULE) --data "$(DATA)" $(if $(MITDB),--tasks pvc_burden$(COMMA)rare_event --databases mitdb,--set all --limit 24) --out $(RUNS)/signals
	$(PAGE) $(RUNS)/signals --data "$(DATA)"
	$(if $(CORE),$(RULE) --data "$(DATA)" --dx reference --set published --scoring published --out $(RUNS)/published-reference)
	$(if $(CORE),$(PAGE) $(RUNS)/published-reference --data "$(DATA)")
	$(TRAINED) --data "$(DATA)" $(if $(MITDB),--tasks pvc_burden$(COMMA)rare_event --databases mitdb,--set all --limit 24) --out $(RUNS)/trained
	$(PAGE) $(RUNS)/trained --data "$(DATA)"
	$(BIN)/ecgscroll compare $(RUNS)/signals $(RUNS)/trained
else
	$(RULE) --dx signal --set supplementary --out $(RUNS)/synthetic-signal
	$(PAGE) $(RUNS)/synthetic-signal
	$(RULE) --dx reference --set supplementary --out $(RUNS)/synthetic-reference
	$(PAGE) $(RUNS)/synthetic-reference
	$(TRAINED) --dx reference --set supplementary --out $(RUNS)/synthetic-trained
	$(PAGE) $(RUNS)/synthetic-trained
	$(BIN)/ecgscroll compare $(RUNS)/synthetic-reference $(RUNS)/synthetic-trained
endif

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term -q $(TESTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m pytest benchmarks -q -p no:xdist --benchmark-only --benchmark-columns=median,iqr,rounds

accuracy: $(VENV)/.dev
	$(BIN)/python benchmarks/accuracy.py $(if $(DATA),--data "$(DATA)")

# Pictures of docs/accuracy.md on synthetic recordings; where real ones fail, into RUNS
strips: $(VENV)/.dev
	$(BIN)/python benchmarks/strips.py --out docs/images/strips
	$(if $(DATA),$(BIN)/python benchmarks/failures.py --data "$(DATA)" --out $(RUNS)/failures)

# The README's picture: a run's page on synthetic recordings, as Chromium shows it
PLACE := episode=episode_detection/synth/paf01&t=366&step=27
picture: $(VENV)/.core
	$(BIN)/ecgscroll synth $(RUNS)/picture-data --default
	$(RULE) --data $(RUNS)/picture-data --dx signal --set supplementary --out $(RUNS)/picture
	$(PAGE) $(RUNS)/picture --data $(RUNS)/picture-data
	"$(CHROMIUM)" --headless --no-sandbox --hide-scrollbars --window-size=1360,1080 --virtual-time-budget=4000 \
		--screenshot="$(CURDIR)/docs/images/page.png" "file://$(abspath $(RUNS))/picture/report.html#$(PLACE)"

$(VENV)/.core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c constraints.txt -e .
	touch $@

# torch comes first and pinned, so that nothing else chooses its build
$(VENV)/.dev: $(VENV)/.core
	$(BIN)/python -m pip install -q -c constraints.txt torch
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[dev,plot,train]"
	touch $@

clean:
	rm -rf $(VENV) .cache build *.egg-info
