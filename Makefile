# Everything runs in .venv, which the first target that needs it makes. Needed beforehand: Python
# 3.10 or newer, pip and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TOOLS := build/tools
MARKS ?= not slow and not exhaustive
# One more than the cores of a small machine: many tests wait for other processes.
PYTEST_FLAGS ?= -n 3 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help install demo test test-static test-all test-exhaustive lint core-figures format docs docs-check site pictures tutorial wheel compiled torch-facts \
	lock audit dist sbom clean \
	bench-analysis bench-models bench-speed bench-repair bench-packages bench-preserve preserve-programs attack

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST) | expand -t 20

# Torch goes alone, by this exact version: which of its wheels fits is up to the machine, and so is
# the hash. Everything else is locked, what torch needs from Python too.
TORCH := torch==2.13.0

$(INSTALLED): pyproject.toml setup.py requirements/dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --require-hashes -r requirements/dev.txt
	$(BIN)/pip install $(TORCH)
	$(BIN)/pip install --no-deps --no-build-isolation -e .
	touch $@

install: $(INSTALLED) ## make .venv with torch, tclint and the tools that work on it

# The last patch of each release that tclint speaks for; NEWEST takes one more, or a newer patch.
RELEASES := 2.11.0 2.12.1 2.13.0 2.14.1 2.15.0
NEWEST ?= $(lastword $(RELEASES))
FACTS := build/torch

$(FACTS)/%/.installed:
	$(PYTHON) -m venv --clear $(@D)
	$(@D)/bin/pip install -q torch==$* numpy packaging expecttest
	touch $@

torch-facts: $(foreach release,$(sort $(RELEASES) $(NEWEST)),$(FACTS)/$(release)/.installed) ## ask each release of torch, and write the tables about it again
	$(FACTS)/$(NEWEST)/bin/python -m scripts.torch_facts --releases $(FACTS)

demo: $(INSTALLED) ## find, fix and verify two small programs
	$(BIN)/python scripts/demo.py

test: $(INSTALLED) ## run the tests that take seconds
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m "$(MARKS)"

# The tests that need torch are skipped where it is not installed. PYTHONS are commands, or paths.
PYTHONS ?= python3.10 python3.11 python3.12 python3.13 python3.14
STATIC := pytest pytest-lsp pytest-xdist hypothesis check-jsonschema 'jsonschema[format]' numpy pyyaml tomli xmlschema

test-static: ## run the tests that need no torch, on every Python that is here
	@for python in $(PYTHONS); do \
	  if ! $$python -c '' 2>/dev/null; then echo "$$python: not here"; continue; fi; \
	  folder=build/static-`$$python -c 'import sys; print(*sys.version_info[:2], sep=".")'`; \
	  echo "== $$folder" && $$python -m venv $$folder \
	  && $$folder/bin/pip install -q -e '.[server,review]' $(STATIC) \
	  && $$folder/bin/python -m pytest $(PYTEST_FLAGS) -m "not slow and not exhaustive" || exit 1; \
	done

test-all: ## run the slow tests too: environments, compilers, real pre-commit
	@$(MAKE) test MARKS="not exhaustive"

test-exhaustive: ## run what goes through all of what other tests take samples of
	@$(MAKE) test MARKS="exhaustive"

lint: $(INSTALLED) ## check the sources, with tclint itself too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/tclint check tclint rules

core-figures: $(INSTALLED) ## count what the code asks the syntax tree and lists by hand
	$(BIN)/python -m scripts.core_figures

format: $(INSTALLED) ## format the sources and apply ruff's safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(INSTALLED) ## write the documentation's generated pages
	$(BIN)/python -m scripts.docs

docs-check: $(INSTALLED) ## fail when the generated pages are out of date
	$(BIN)/python -m scripts.docs --check

site: docs ## build the documentation's site into site/, and check its links
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --clean --quiet
	$(BIN)/python -m scripts.site_check site

# PICTURES names a browser, and a folder with an editor: see scripts/pictures.py.
pictures: $(INSTALLED) ## draw the pictures of docs/assets from real runs
	$(BIN)/python -m scripts.pictures $(PICTURES)

tutorial: $(INSTALLED) ## run the commands of docs/slow-script.md, and write it
	$(BIN)/python -m scripts.tutorial

wheel: $(INSTALLED) ## build a wheel with the analysis compiled, into dist/
	TCLINT_COMPILE=1 $(BIN)/pip wheel -q --no-deps --no-build-isolation -w dist .
	rm -rf build

compiled: wheel
	$(PYTHON) -m venv --clear benchmarks/out/compiled
	benchmarks/out/compiled/bin/pip install -q dist/*.whl

bench-analysis: compiled ## the analysis beside CPython's own parser, as sources and compiled
	mkdir -p benchmarks/out/apart/benchmarks
	cp -r benchmarks/analysis.py benchmarks/speed benchmarks/out/apart/benchmarks/
	cd benchmarks/out/apart && ../compiled/bin/python -m benchmarks.analysis --work .. \
		--markdown ../../../docs/benchmark-analysis.md
	$(BIN)/python -m benchmarks.analysis --work benchmarks/out \
		--append --markdown docs/benchmark-analysis.md

bench-models: $(INSTALLED) ## recall, precision and silence on real models
	$(BIN)/pip install transformers==5.23.0 diffusers==0.42.1 scipy
	$(BIN)/python -m benchmarks.models --markdown docs/benchmark-models.md

OTHERS := torch_geometric==2.8.1 monai==1.6.1 timm==1.0.31 vit-pytorch==1.26.11 \
	x-transformers==2.31.10 kornia==0.9.0 speechbrain==1.1.2 segmentation-models-pytorch==0.6.0 \
	vector-quantize-pytorch==1.32.0 mixture-of-experts st-moe-pytorch soft-moe-pytorch \
	local-attention routing-transformer reformer-pytorch perceiver-pytorch CoLT5-attention \
	pytorch-tabnet denoising-diffusion-pytorch nflows e3nn torchvision==0.28.0 torchaudio==2.11.0

bench-models-others: $(INSTALLED) ## the same on models of packages that no rule was written against
	$(PYTHON) -m venv benchmarks/out/others
	benchmarks/out/others/bin/pip install $(TORCH) $(OTHERS) -e .
	benchmarks/out/others/bin/python -m benchmarks.models --catalogue others \
		--markdown docs/benchmark-models-others.md

bench-speed: compiled ## time the compiled tclint beside its peers on the sources of real packages
	$(BIN)/python -m benchmarks.speed --tclint benchmarks/out/compiled/bin/tclint \
		--markdown docs/benchmark-speed.md

# The models of other packages that break most, by docs/benchmark-models-others.md's measurement.
MOST_BROKEN := graph_unet,faster_rcnn,asa_pooling,na_vit,dino,sag_pooling,scale_space_detector,topk_pooling,routing_transformer_RoutingTransformerLM,sg_former,emformer,ats_vit

bench-repair: $(INSTALLED) ## graph breaks of real models before and after `tclint fix`
	$(PYTHON) -m venv benchmarks/out/older
	benchmarks/out/older/bin/pip install $(TORCH)
	benchmarks/out/older/bin/pip install transformers==4.52.4 numpy
	$(BIN)/python -m benchmarks.repair --python benchmarks/out/older/bin/python --inductor --tiers \
		--markdown docs/benchmark-repair.md
	$(BIN)/python -m benchmarks.repair --python benchmarks/out/older/bin/python \
		--table catalogue --broken-only --tiers --append --markdown docs/benchmark-repair.md
	$(BIN)/pip install transformers==5.23.0 scipy
	$(BIN)/python -m benchmarks.repair --table catalogue --broken-only --tiers --append \
		--markdown docs/benchmark-repair.md
	$(PYTHON) -m venv benchmarks/out/others
	benchmarks/out/others/bin/pip install $(TORCH) $(OTHERS)
	$(BIN)/python -m benchmarks.repair --python benchmarks/out/others/bin/python --table others \
		--rows $(MOST_BROKEN) --tiers --append --markdown docs/benchmark-repair.md

# Names of folders: the distribution, which is the package too, and its version.
SOURCES := timm-1.0.31 lightning-2.6.6 torch_geometric-2.8.1 monai-1.6.1 diffusers-0.42.1 \
	transformers-4.52.4 transformers-5.4.0 transformers-5.23.0
UNPACKED := benchmarks/out/packages
FIX_PACKAGES = $(BIN)/python -m benchmarks.repair.packages --records $(UNPACKED)/fixed.jsonl \
	--markdown docs/benchmark-repair-packages.md \
	$(foreach source,$(SOURCES),$(UNPACKED)/$(source)/$(firstword $(subst -, ,$(source))))

bench-packages: $(INSTALLED) ## fix the sources of whole packages, and hold every promise against that
	for source in $(SOURCES); do \
	  $(BIN)/pip install --quiet --no-deps --target $(UNPACKED)/$$source $${source%-*}==$${source##*-} || exit 1; \
	done
	for tier in safe unsafe settings; do $(FIX_PACKAGES) --tier $$tier || exit 1; done

bench-preserve: $(INSTALLED) ## hold what programs do after fixing against what they did
	$(BIN)/python -m benchmarks.preserve --programs 5000 --markdown docs/benchmark-preserve.md
	$(BIN)/python -m benchmarks.preserve --silence --markdown docs/benchmark-preserve.md

# On a machine with a GPU, torch and numpy: `python -m benchmarks.preserve.against FILE --device cuda,cpu`
preserve-programs: $(INSTALLED) ## write fixed programs, to be compared where tclint is not installed
	$(BIN)/python -m benchmarks.preserve --programs 2000 --torch 2.11 --emit benchmarks/out/programs.json

attack: $(INSTALLED) ## do to tclint whatever harm can be thought of: kills, lies, broken programs
	$(BIN)/python -m benchmarks.attack --markdown docs/benchmark-attack.md

bench-%: $(INSTALLED) ## bench-NAME runs benchmarks/NAME.py
	$(BIN)/python -m benchmarks.$*

$(TOOLS)/.installed: requirements/release.txt
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --require-hashes -r $<
	touch $@

lock: $(TOOLS)/.installed ## renew requirements/; LOCK=--upgrade takes the newest versions
	PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH" $(TOOLS)/bin/python -m scripts.lock $(LOCK)

audit: $(TOOLS)/.installed ## look for known weaknesses in everything that is locked, and in torch
	$(TOOLS)/bin/pip-audit --disable-pip --require-hashes $(addprefix -r ,$(wildcard requirements/*.txt))
	echo $(TORCH) > build/torch.txt
	$(TOOLS)/bin/pip-audit --disable-pip --no-deps -r build/torch.txt

dist: $(TOOLS)/.installed ## build a release into dist/: its sources, and a wheel of them
	SOURCE_DATE_EPOCH=`git log -1 --format=%ct` $(TOOLS)/bin/python -m build --no-isolation

# What a plain `pip install` of the release would find today, the locked versions of it.
sbom: $(TOOLS)/.installed ## write the bill of materials of a release into dist/
	$(PYTHON) -m venv --clear build/sbom
	build/sbom/bin/pip install -q --require-hashes -r requirements/run.txt
	build/sbom/bin/pip install -q --no-deps .
	build/sbom/bin/pip uninstall -q -y pip setuptools
	mkdir -p dist
	version=`build/sbom/bin/python -I -c 'import tclint; print(tclint.__version__)'` \
		&& sed "s/^dynamic = .*/version = \"$$version\"/" pyproject.toml > build/sbom.toml
	$(TOOLS)/bin/cyclonedx-py environment --pyproject build/sbom.toml --output-reproducible \
		--mc-type library -o dist/tclint-torch.cdx.json build/sbom

clean: ## remove .venv and everything that can be made again
	rm -rf $(VENV) build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .tclint_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
