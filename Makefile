# SPDX-License-Identifier: GPL-3.0-or-later
# Each target does all of its own set-up in .venv-* folders of this checkout. It needs Python, make and a network.
#
#   make test ARGS="-k limits"                 more words for pytest, the demo or the benchmarks
#   make test BLENDER=4.5                      another Blender
#   make test PYTHON=/opt/python/bin/python3   another Python to look at first

.DEFAULT_GOAL := help
.PHONY: help demo docs gallery release test test-all fuzz presses mutants kernel kernel-check kernel-fuzz golden zip short bench lint locks clean

BLENDER ?=
ARGS ?=
PYTHON ?=

# Any Python that runs can start: tools/environment.py finds the one that Blender needs. If there is none, a uv that is
# there brings one.
define task
@for python in $(if $(PYTHON),"$(PYTHON)") python3 python python3.13 python3.11 "$$HOME"/.pyenv/versions/*/bin/python3; do \
  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then \
    exec "$$python" tools/tasks.py $(1); \
  fi; \
done; \
if uv --version >/dev/null 2>&1; then \
  echo "No Python 3.8 or newer was found: uv brings Python 3.13, some 35 MB."; \
  export UV_CACHE_DIR="$${UV_CACHE_DIR:-$$PWD/.venv-cache/uv}" UV_PYTHON_INSTALL_DIR="$$PWD/.venv-python"; \
  UV_SYSTEM_CERTS="$${UV_SYSTEM_CERTS:-1}" exec uv run --no-project --python 3.13 tools/tasks.py $(1); \
fi; \
echo "No Python 3.8 or newer was found, and no uv: install Python 3.13 (for Blender 5.2) or 3.11 (for 4.2 to 5.0)." >&2; \
exit 1
endef

help: ## Say what the targets do
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' Makefile

demo: ## Run the main job on the example clip
	$(call task,demo -- $(ARGS))

test: ## Run the tests in the best Blender whose Python is here: 5.2, else 4.5
	$(call task,test --blender "$(BLENDER)" -- $(ARGS))

test-all: ## Run the tests in Blender 4.2, 4.5, 5.0 and 5.2
	$(call task,test-all -- $(ARGS))

fuzz: ## Do random walks over what a user may do, and shrink what breaks: ARGS="--steps 20000 --seed 1"
	$(call task,run tests/fuzz/run.py -- $(ARGS))

presses: ## Press every operator that writes in every situation, and print a table: ARGS="--presses 'pin;plant'"
	$(call task,run tests/presses/run.py -- $(ARGS))

mutants: ## Put faults in on purpose, one at a time, and see whether the walks and tests notice: ARGS="--quick"
	$(call task,run tests/fuzz/mutants.py -- $(ARGS))

kernel: ## Build the compiled kernel for all platforms: wheels in dist/
	$(call task,kernel)

kernel-check: ## Run the solvers' tests with a kernel that stops at undefined behaviour and outside its arrays
	$(call task,kernel-check -- $(ARGS))

kernel-fuzz: ## Solve random problems with that kernel, and check the answers: ARGS="--cases 20000 --seed 1"
	$(call task,kernel-fuzz -- $(ARGS))

golden: ## Store the compiled solvers' present answers to fixed problems as the right ones
	$(call task,run tests/solvers/golden.py)

zip: ## Build and validate dist/dqik-<version>.zip, one without the kernel, and one for each platform
	$(call task,zip -- --split)

release: ## Build, try and tag a release: ARGS="0.1.0 --dry-run"
	$(call task,run tools/release.py -- $(ARGS))

docs: ## Build the manual as a site in build/site
	$(call task,docs)

gallery: ## Render the moving pictures of the documents: ARGS="--only reach staff", or "--sheet FOLDER" to look at them
	$(call task,run examples/gallery/make.py -- $(ARGS))

short: ## Run all that makes tables and pictures of the documents in a short form: does it break?
	$(call task,run tools/short.py -- $(ARGS))

bench: ## Run the benchmarks: tables
	$(call task,run benchmarks/run.py -- $(ARGS))

lint: ## Run the linter and the type checker
	$(call task,lint)

locks: ## Refresh tools/locks: the newest versions that tools/environment.py permits
	$(call task,locks)

clean: ## Remove what the other targets made, environments included
	$(call task,clean)
