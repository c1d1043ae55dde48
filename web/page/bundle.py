"""Bundles static files with esbuild: each is named with a hash of its content, and those of a page are few.

Only collected files are bundled (static_files.py); until then the browser runs the source modules.
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
    ("chat/accounts/login.js",),
    ("chat/frame/shown_password.js",),
    ("chat/accounts/passkeys.js",),
)
# Browsers with light-dark() support everything that the sources use.
TARGET = "es2022,chrome123,firefox120,safari17.5"
_OPTIONS = (
    "--bundle",
    "--minify",
    f"--target={TARGET}",
    "--metafile=../bundle.json",
    # No tsconfig.json of a parent folder is read.
    "--tsconfig-raw={}",
    # Names of classes stay as they are, whatever the file is called.
    "--loader:.module.css=css",
    "--log-level=warning",
)
_OF_GROUPS = (
    "--outdir=bundle",
    "--splitting",
    "--format=esm",
    "--sourcemap",
    "--entry-names=[name].[hash]",
    "--chunk-names=[name].[hash]",
    "--asset-names=[name].[hash]",
    "--loader:.woff2=file",
)
_OF_OTHERS = (
    "--outdir=.",
    "--outbase=.",
    "--entry-names=[dir]/[name].[hash]",
    "--asset-names=[dir]/[name].[hash]",
)


@dataclass
class Bundle:
    """A bundle of collected files. Names are paths below STATIC_URL."""

    # All files: name with the hash → content.
    files: dict[str, bytes] = field(default_factory=dict)
    # Source → the file that replaces it. Scripts of the GROUPS that no template names have none.
    entries: dict[str, str] = field(default_factory=dict)
    # Script named by a template → the scripts that it imports at once, including itself.
    scripts: dict[str, list[str]] = field(default_factory=dict)
    # All files that esbuild read.
    sources: set[str] = field(default_factory=set)


def bundled(contents: Mapping[str, bytes]) -> Bundle:
    """Return the bundle of `contents` (name → content).

    The GROUPS whose files are all there are bundled; other files are copied, and references in style sheets renamed.
    Raises ImproperlyConfigured if a bundled script or a style sheet refers to a file that is not there.
    """
    bundle = Bundle()
    with tempfile.TemporaryDirectory(dir=_private_folder()) as folder:
        root = _write_sources(Path(folder).resolve(), contents)
        for group in GROUPS:
            if contents.keys() >= set(group):
                _add_group(bundle, root, group, _aliases(contents))
        _add_others(bundle, root, contents)
    return bundle


def _private_folder() -> Path:
    """Return a folder into which no other user of this machine can put a package.json that changes the bundle."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write_sources(folder: Path, contents: Mapping[str, bytes]) -> Path:
    """Write the sources; return their folder. Relative to it, source maps and hashes are the same on every machine."""
    # esbuild looks for it in all folders above a source, and takes the nearest.
    (folder / "package.json").write_text("{}", encoding="utf-8")
    root = folder / "sources"
    root.mkdir()
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def _add_group(bundle: Bundle, root: Path, group: Collection[str], aliases: Iterable[str]) -> None:
    """Bundle the files of a group, of which the first is a script."""
    # Modules that are loaded later import the page that loaded them. Injecting the page makes all that it needs at once
    # one file, instead of one for each set of later modules that share it.
    inject = f"--inject:./{next(iter(group))}"
    outputs = _add(bundle, root, group, *_OF_GROUPS, *aliases, inject)
    scripts = [name for name in group if name.endswith(".js")]
    bundle.entries |= {name: _own_code(bundle.entries[name], outputs) for name in scripts}
    bundle.scripts |= {name: _at_once(bundle.entries[name], outputs) for name in scripts}


def _add_others(bundle: Bundle, root: Path, names: Iterable[str]) -> None:
    """Copy the files that are not in the bundle, scripts without a change."""
    scripts = {name for name in bundle.sources if name.endswith(".js")}
    others = sorted({*names} - bundle.entries.keys() - scripts)
    if not others:
        return
    suffixes = {PurePosixPath(name).suffix for name in others} - {".css"}
    _add(bundle, root, others, *_OF_OTHERS, *(f"--loader:{suffix}=copy" for suffix in sorted(suffixes)))
    if lost := {*others} - bundle.entries.keys():
        raise ImproperlyConfigured(f"esbuild has left out {', '.join(sorted(lost))}")


def _aliases(names: Iterable[str]) -> list[str]:
    """Return options for importing the modules of vendor/ by the name of their folder, if any, and their own."""
    vendor = {name for name in names if re.fullmatch(r"vendor/[^/]+\.js", name)}
    vendor |= {name.rpartition("/")[0] for name in names if re.fullmatch(r"vendor/.+/[^/]+\.js", name)}
    return [f"--alias:{PurePosixPath(name).stem}=./{name}" for name in sorted(vendor)]


def _add(bundle: Bundle, root: Path, entries: Collection[str], *options: str) -> dict[str, Any]:
    """Run esbuild in `root`; add what it wrote to `bundle`, and return its description of the outputs."""
    done = subprocess.run(  # noqa: S603  our own arguments
        [_program(), *entries, *_OPTIONS, *options],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ImproperlyConfigured(f"the page cannot be bundled: {done.stderr.strip()}")
    described: dict[str, Any] = json.loads((root.parent / "bundle.json").read_text(encoding="utf-8"))
    outputs: dict[str, Any] = described["outputs"]
    bundle.sources.update(described["inputs"])
    for name, output in outputs.items():
        bundle.files[name] = (root / name).read_bytes()
        # Modules that are loaded later are entries too, of esbuild alone.
        if output.get("entryPoint") in entries:
            bundle.entries[output["entryPoint"]] = name
    return outputs


def _program() -> Path:
    """Return the path of the esbuild program of this platform, which npm installs. It does not need Node.js."""
    found = sorted(Path(settings.BASE_DIR, "node_modules", "@esbuild").glob("*/bin/esbuild"))
    if not found:
        raise ImproperlyConfigured("esbuild is not installed: run make setup (or make production)")
    return found[0]


def _own_code(entry: str, outputs: Mapping[str, Any]) -> str:
    """Return the file that has the code of an entry: esbuild may leave in the entry only the import of a chunk."""
    output = outputs[entry]
    imports = _new_imports(output["imports"], ())
    is_empty = all(part["bytesInOutput"] == 0 for part in output["inputs"].values())
    return imports[0] if is_empty and len(imports) == 1 else entry


def _at_once(first: str, outputs: Mapping[str, Any]) -> list[str]:
    found = [first]
    for name in found:
        found.extend(_new_imports(outputs[name]["imports"], found))
    return found


def _new_imports(imports: Iterable[Mapping[str, str]], known: Collection[str]) -> list[str]:
    return [
        each["path"] for each in imports if each["kind"] == "import-statement" and each["path"] not in known
    ]
