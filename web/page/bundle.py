"""Bundles the scripts and style sheets that pages load, with esbuild: few files, each named with a hash of its content.

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

# What the templates name. The files of a group share what they have in common; groups share nothing.
GROUPS = (
    ("chat/page.js", "chat/page.css"),
    ("chat/sharing/shared_page.js", "chat/sharing/shared_page.css"),
    ("chat/frame/login.js",),
    ("chat/frame/time_left.js",),
    ("chat/frame/passkeys.js",),
)
# Browsers that have light-dark() have all that the sources use.
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
    # None of the folders above is asked.
    "--tsconfig-raw={}",
    "--log-level=warning",
)


@dataclass
class Bundle:
    """Names are paths below STATIC_URL."""

    # All files, by their names with a hash.
    files: dict[str, bytes] = field(default_factory=dict)
    # Source named by a template → the file that takes its place.
    entries: dict[str, str] = field(default_factory=dict)
    # Script named by a template → the scripts that it imports at once, itself included.
    scripts: dict[str, list[str]] = field(default_factory=dict)
    # The sources that are in it.
    sources: set[str] = field(default_factory=set)


def bundled(contents: Mapping[str, bytes]) -> Bundle:
    """Return the bundle of those GROUPS of which `contents` (name → content) has all sources."""
    bundle = Bundle()
    groups = [group for group in GROUPS if all(name in contents for name in group)]
    if not groups:
        return bundle
    # Among sources of the same relative paths on every machine: paths are in source maps, and in hashes.
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
    # Of a folder, the files are imported by its name and theirs.
    vendor = {name for name in names if re.fullmatch(r"vendor/[^/]+\.js", name)}
    vendor |= {name.rpartition("/")[0] for name in names if re.fullmatch(r"vendor/.+/[^/]+\.js", name)}
    aliases = [f"--alias:{PurePosixPath(name).stem}=./{name}" for name in sorted(vendor)]
    # What is loaded later imports the page, which it was loaded by: all that the page needs at once is then one file, not
    # one for each set of later modules that share it.
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
    """The program of this platform, which npm installs; it needs no Node.js."""
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
