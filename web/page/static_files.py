"""Static files: the storage of the collected ones, each also under a name with a hash, compressed; and their serving.

A name with a hash always means the same bytes, so browsers cache the file without revalidation. `collectstatic` writes only
new files: a file that exists under its name is complete.
"""

import gzip
import json
import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote
from wsgiref.headers import Headers

import brotli
from django.contrib.staticfiles.storage import StaticFilesStorage, staticfiles_storage
from django.core.files.storage import Storage
from servestatic.middleware import ServeStaticMiddleware

from web.page.bundle import Bundle, bundled

# Compressed already; source maps are only read by developers' tools.
_DENSE = {".map", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".woff", ".woff2"}
# Above this size the highest quality takes seconds of the first start.
_LARGE_BYTES = 150_000
# Hashes of the bundle, and those of releases before it named all files.
_HASHED = re.compile(r"\.([0-9A-Z]{8}|[0-9a-f]{12})\.")
_VARIANT = re.compile(r"\.(br|gz)$")
# The highest ratio of sizes at which a compressed variant is stored.
_WORTHWHILE = 0.95


class HashedStaticFiles(StaticFilesStorage):
    """Storage of static files. hashed_files: name → name with the hash.

    It is empty until files are collected; then URLs have the plain names. Of the scripts in the bundle only those that
    templates name are in it.
    `scripts`: script named by a template → the files that it imports at once.
    The files of the previous collection are kept: pages that were loaded before still import from it.
    """

    manifest_name = "staticfiles.json"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        try:
            manifest = json.loads(self._path(self.manifest_name).read_bytes())
        except FileNotFoundError:
            manifest = {}
        self.hashed_files: dict[str, str] = manifest.get("paths", {})
        self.scripts: dict[str, list[str]] = manifest.get("scripts", {})
        self._bundle: list[str] = manifest.get("bundle", [])
        self._earlier: list[str] = manifest.get("earlier", [])

    @property
    def hashed_names(self) -> set[str]:
        """The names with a hash of all files that are kept."""
        return {*self._current, *self._earlier}

    @property
    def _current(self) -> set[str]:
        # In the manifest of a release before, the first are not all in the second.
        return {*self.hashed_files.values(), *self._bundle}

    def url(self, name: str | None) -> str:
        return super().url(self.hashed_files.get(name or "", name))

    def post_process(
        self, paths: Mapping[str, tuple[Storage, str]], dry_run: bool = False, **_options: Any
    ) -> Iterator[tuple[str, str, bool]]:
        """Store the collected files under names with hashes; yield (name, name with the hash, True) of each.

        collectstatic calls it with all files it found: name → storage and path of the source. Raises
        ImproperlyConfigured if a file refers to one that does not exist.
        """
        if dry_run:
            return
        bundle = bundled(_read(paths))
        missing = [
            (self._path(name), content)
            for name, content in bundle.files.items()
            if not self._path(name).exists()
        ]
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(_write_all, *zip(*missing, strict=True)) if missing else ())
        self._record(bundle)
        self._prune()
        yield from ((name, hashed, True) for name, hashed in self.hashed_files.items())

    def _record(self, bundle: Bundle) -> None:
        before = self._current
        self.hashed_files, self.scripts = bundle.entries, bundle.scripts
        self._bundle = sorted(bundle.files)
        if before != self._current:
            self._earlier = sorted(before)
        manifest = {
            "paths": self.hashed_files,
            "scripts": self.scripts,
            "bundle": self._bundle,
            "earlier": self._earlier,
        }
        _write(self._path(self.manifest_name), json.dumps(manifest).encode())

    def _prune(self) -> None:
        """Delete files of older collections, and unfinished ones of a crash. Plain names stay, as with Django."""
        kept = self.hashed_names | self.hashed_files.keys()
        root = self._path("")
        for file in root.rglob("*.*"):
            name = file.relative_to(root).as_posix()
            if _HASHED.search(file.name) and not {name, _VARIANT.sub("", name)} & kept:
                file.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return Path(self.path(name))


def _read(paths: Mapping[str, tuple[Storage, str]]) -> dict[str, bytes]:
    """Return the contents of the sources. A file without a suffix, a licence, gets no name with a hash."""
    contents = {}
    for name, (storage, path) in paths.items():
        if PurePosixPath(name).suffix:
            with storage.open(path) as file:
                contents[PurePosixPath(name).as_posix()] = file.read()
    return contents


def _write_all(path: Path, content: bytes) -> None:
    """Write the file after its compressed variants, so that they exist whenever it does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix not in _DENSE:
        quality = 11 if len(content) <= _LARGE_BYTES else 9
        variants = {
            ".br": brotli.compress(content, quality=quality),
            ".gz": gzip.compress(content, compresslevel=9, mtime=0),
        }
        for suffix, variant in variants.items():
            if len(variant) <= _WORTHWHILE * len(content):
                _write(path.with_name(path.name + suffix), variant)
    _write(path, content)


def _write(path: Path, content: bytes) -> None:
    """Replace the file atomically: readers see all of it or none. Everybody may read it, whatever the umask."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.chmod(0o644)
    unfinished.replace(path)


class StaticFiles(ServeStaticMiddleware):  # type: ignore[misc]  # untyped
    """Middleware that serves static files, also as compressed variants stored beside them (Accept-Encoding).

    Nothing else is compressed: the length of a compressed response with secrets would reveal them to whoever can have
    text put beside them.
    """

    def add_cache_headers(self, headers: Headers, path: str, url: str) -> None:
        super().add_cache_headers(headers, path, url)
        name = url.removeprefix(self.static_prefix)
        hashed_names: set[str] = getattr(staticfiles_storage, "hashed_names", set())
        if name in hashed_names:
            headers["Cache-Control"] = "public, max-age=31536000, immutable"
            # Weak, since the encodings share it. The library's ETag has the file's time, which differs between
            # machines.
            headers["ETag"] = f'W/"{quote(name)}"'
