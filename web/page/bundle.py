"""Bundling of the scripts and style sheets of pages, with esbuild: few files, each named with a hash of its content.

Only collected files are bundled (static_storage.py); until then the browser runs the source modules.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

# The sources that the templates name. The files of a group share common chunks; groups share nothing.
GROUPS = (
    ("chat/page.js", "chat/page.css"),
    ("chat/sharing/shared_page.js", "chat/sharing/shared_page.css"),
    ("chat/frame/login.js",),
    ("chat/frame/time_left.js",),
    ("chat/frame/passkeys.js",),
)
# Browsers with light-dark() support everything that the sources use.
TARGET = "es2022,chrome123,firefox120,safari17.5"
_FOLDER = "bundle"
_SOURCES = ("chat/", "vendor/")
_OPTIONS = (
    "--bundle",
    "--splitting",
    "--format=esm",
    "--minify",
    "--sourcemap",
    f"--target={TARGET}",
    f"--outdir={_FOLDER}",
    "--metafile=bundle.json",
    "--entry-names=[name].[hash]",
    "--chunk-names=[name].[hash]",
    "--asset-names=[name].[hash]",
    "--loader:.woff2=file",
    # No tsconfig.json of a parent folder is read.
    "--tsconfig-raw={}",
    "--log-level=warning",
)


@dataclass
class Bundle:
    """A bundle of collected files. Names are paths below STATIC_URL."""

    # All files: name with the hash → content.
    files: dict[str, bytes] = field(default_factory=dict)
    # Source named by a template → the file that replaces it.
    entries: dict[str, str] = field(default_factory=dict)
    # Script named by a template → the scripts that it imports at once, including itself.
    scripts: dict[str, list[str]] = field(default_factory=dict)
    # The bundled sources.
    sources: set[str] = field(default_factory=set)


def bundled(contents: Mapping[str, bytes]) -> Bundle:
    """Return the bundle of the GROUPS whose sources are all in `contents` (name → content)."""
    bundle = Bundle()
    groups = [group for group in GROUPS if all(name in contents for name in group)]
    if not groups:
        return bundle
    # The relative paths of the sources are the same on every machine, since they are in source maps and hashes.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, content in contents.items():
            if name.startswith(_SOURCES):
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        for group in groups:
            _add(bundle, root, _built(root, group, contents))
    return bundle


def _built(root: Path, group: tuple[str, ...], names: Iterable[str]) -> dict[str, Any]:
    """Run esbuild; return its description of what it wrote below `root`."""
    # The files of a folder are imported by the name of the folder and their own.
    vendor = {name for name in names if re.fullmatch(r"vendor/[^/]+\.js", name)}
    vendor |= {name.rpartition("/")[0] for name in names if re.fullmatch(r"vendor/.+/[^/]+\.js", name)}
    aliases = [f"--alias:{PurePosixPath(name).stem}=./{name}" for name in sorted(vendor)]
    # Modules that are loaded later import the page that loaded them. Injecting the page makes all that it needs at once
    # one file, instead of one for each set of later modules that share it.
    whole = f"--inject:./{group[0]}"
    done = subprocess.run(  # noqa: S603  our own arguments
        [_program(), *group, *_OPTIONS, *aliases, whole],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ImproperlyConfigured(f"the page cannot be bundled: {done.stderr.strip()}")
    built: dict[str, Any] = json.loads((root / "bundle.json").read_text(encoding="utf-8"))
    return built


def _program() -> Path:
    """Return the path of the esbuild program of this platform, which npm installs. It does not need Node.js."""
    found = sorted(Path(settings.BASE_DIR, "node_modules", "@esbuild").glob("*/bin/esbuild"))
    if not found:
        raise ImproperlyConfigured("esbuild is not installed: run make setup (or make production)")
    return found[0]


def _add(bundle: Bundle, root: Path, built: dict[str, Any]) -> None:
    outputs: dict[str, Any] = built["outputs"]
    bundle.sources.update(name for name in built["inputs"] if name.startswith(_SOURCES))
    for name, output in outputs.items():
        bundle.files[name] = (root / name).read_bytes()
        source = output.get("entryPoint")
        if any(source in group for group in GROUPS):
            bundle.entries[source] = name
            if name.endswith(".js"):
                bundle.scripts[source] = _at_once(name, outputs)


def _at_once(first: str, outputs: Mapping[str, Any]) -> list[str]:
    found = [first]
    for name in found:
        found.extend(_new_imports(outputs[name]["imports"], found))
    return found


def _new_imports(imports: Iterable[Mapping[str, str]], known: Collection[str]) -> list[str]:
    return [
        each["path"] for each in imports if each["kind"] == "import-statement" and each["path"] not in known
    ]
