"""Collecting static files, and what is served: encodings, caching, and files of the collection before."""

import gzip
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import brotli
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory

from web.page import static_files
from web.page.static_files import HashedStaticFiles

TEXT = "<svg><text>the same words again and again</text></svg>\n" * 50
FOREVER = "public, max-age=31536000, immutable"


class Site:
    """A folder of sources, and what is collected from it."""

    def __init__(self, folder: Path) -> None:
        self.sources = folder / "sources"
        self.root = folder / "static"
        self.write("page.css", 'body { background: url("deep/words.svg?#top") }\n')
        self.write("deep/words.svg", TEXT)
        self.write("tiny.svg", "<svg/>")

    def write(self, name: str, text: str) -> None:
        for path in (self.sources / name, self.root / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def delete(self, name: str) -> None:
        (self.sources / name).unlink()

    def collect(self) -> HashedStaticFiles:
        source = FileSystemStorage(location=self.sources)
        names = [
            path.relative_to(self.sources).as_posix() for path in self.sources.rglob("*") if path.is_file()
        ]
        storage = self.storage()
        list(storage.post_process({name: (source, name) for name in names}))
        return storage

    def storage(self) -> HashedStaticFiles:
        return HashedStaticFiles(location=self.root)

    def modified_ns(self) -> dict[str, int]:
        return {path.name: path.stat().st_mtime_ns for path in self.root.rglob("*.*.*") if path.is_file()}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


class Server:
    """The middleware over a site's collection, as a new web process makes it."""

    def __init__(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(static_files, "staticfiles_storage", site.storage())
        settings = SimpleNamespace(
            DEBUG=False,
            INSTALLED_APPS=[],
            STATIC_URL="/static/",
            STATIC_ROOT=str(site.root),
            SERVESTATIC_MAX_AGE=60,
            SERVESTATIC_ALLOW_ALL_ORIGINS=False,
        )
        self._serve = static_files.StaticFiles(self._other, settings)

    @staticmethod
    async def _other(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(status=404)

    async def get(self, name: str, **headers: str) -> Any:
        """A response with its body in `body`."""
        response = await self._serve(AsyncRequestFactory().get(f"/static/{name}", headers=headers))
        response.body = b"".join([each async for each in response]) if response.streaming else b""
        return response


@pytest.mark.slow
@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        ("br, gzip", "br"),
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0.5", "br"),
        ("br;q=0, gzip;q=0", None),
        ("identity", None),
        ("", None),
    ],
)
async def test_the_encoding_is_what_the_client_accepts(
    site: Site, monkeypatch: pytest.MonkeyPatch, accepted: str, encoding: str | None
) -> None:
    name = site.collect().hashed_files["deep/words.svg"]
    headers = {"accept-encoding": accepted} if accepted else {}
    answer = await Server(site, monkeypatch).get(name, **headers)
    assert answer.get("Content-Encoding") == encoding
    assert answer["Vary"] == "Accept-Encoding"
    assert int(answer["Content-Length"]) == len(answer.body)
    decode = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[encoding]
    assert decode(answer.body).decode() == TEXT


@pytest.mark.slow
async def test_only_names_with_a_hash_are_cached_for_good(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.write("looks.0123ABCD.js", TEXT)
    hashed = site.collect().hashed_files
    server = Server(site, monkeypatch)
    for name, with_hash in hashed.items():
        assert (await server.get(with_hash))["Cache-Control"] == FOREVER
        plain = await server.get(name)
        assert plain["Cache-Control"] == "max-age=60, public"
        again = await server.get(name, **{"if-none-match": plain["ETag"]})
        assert again.status_code == 304
    assert (await server.get("page.0123ABCD.css")).status_code == 404


async def test_the_validator_of_a_name_with_a_hash_is_the_same_on_every_machine(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = site.collect().hashed_files["deep/words.svg"]
    tags = []
    for written_s in (1_000_000_000, 1_100_000_000):
        os.utime(site.root / name, (written_s, written_s))
        tags.append((await Server(site, monkeypatch).get(name))["ETag"])
    assert tags[0] == tags[1]
    again = await Server(site, monkeypatch).get(name, **{"if-none-match": tags[0]})
    assert (again.status_code, again["Cache-Control"]) == (304, FOREVER)


def test_a_change_renames_the_file_and_the_style_sheets_that_refer_to_it(site: Site) -> None:
    before = site.collect().hashed_files
    site.write("deep/words.svg", TEXT + "<!-- more -->\n")
    after = site.collect().hashed_files
    assert {name for name in before if before[name] != after[name]} == {"page.css", "deep/words.svg"}
    assert f'url("./{after["deep/words.svg"]}?#top")' in (site.root / after["page.css"]).read_text()
    assert site.storage().url("page.css") == f"/static/{after['page.css']}"


def test_what_has_not_changed_is_not_written_again(site: Site) -> None:
    site.collect()
    before = site.modified_ns()
    site.write("tiny.svg", "<svg></svg>")
    site.collect()
    after = site.modified_ns()
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


@pytest.mark.slow
async def test_a_page_loaded_before_an_upgrade_still_loads_its_modules(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = site.collect().hashed_files["deep/words.svg"]
    site.write("deep/words.svg", TEXT * 2)
    site.collect()
    second = site.collect().hashed_files["deep/words.svg"]
    server = Server(site, monkeypatch)
    for name in (first, second):
        assert (await server.get(name))["Cache-Control"] == FOREVER
    site.write("deep/words.svg", TEXT * 3)
    site.collect()
    server = Server(site, monkeypatch)
    assert (await server.get(first)).status_code == 404
    assert (await server.get(second)).status_code == 200
    assert not list(site.root.glob(f"{first}*"))


def test_what_a_crash_left_unfinished_is_removed(site: Site) -> None:
    name = site.collect().hashed_files["page.css"]
    left = [site.root / each for each in (f"{name}.br.4242", f"{name}.4242", "page.AAAAAAAA.css")]
    for file in left:
        file.touch()
    site.collect()
    assert not [file for file in left if file.exists()]
    assert (site.root / name).exists()


def test_everybody_can_read_the_files_whatever_the_umask(site: Site) -> None:
    before = os.umask(0o077)
    try:
        names = site.collect().hashed_names
    finally:
        os.umask(before)
    assert {(site.root / name).stat().st_mode & 0o777 for name in (*names, "staticfiles.json")} == {0o644}


@pytest.mark.parametrize(
    "kept", ["url(#shade)", "url(data:image/png;base64,AAAA)", "url(https://a.example/f.svg)"]
)
def test_addresses_in_style_sheets_that_name_no_static_file_stay(site: Site, kept: str) -> None:
    site.write("page.css", f"body{{fill:{kept}}}")
    assert kept in (site.root / site.collect().hashed_files["page.css"]).read_text()


def test_a_style_sheet_that_names_a_missing_file_stops_the_collection_and_is_named(site: Site) -> None:
    site.write("page.css", "body { fill: url(missing.svg) }")
    with pytest.raises(ImproperlyConfigured, match=r"(?s)missing\.svg.*page\.css"):
        site.collect()


def test_of_files_whose_sources_are_gone_the_plain_names_stay_for_processes_of_the_release_before(
    site: Site,
) -> None:
    site.collect()
    site.delete("tiny.svg")
    site.collect()
    assert len(list(site.root.glob("tiny.*"))) == 2, "the collection before"
    site.write("other.svg", "<svg/>")
    site.collect()
    assert [path.name for path in site.root.glob("tiny.*")] == ["tiny.svg"]


def test_what_somebody_else_has_put_beside_them_stays(site: Site) -> None:
    (site.root / "robots.txt").write_text("User-agent: *")
    site.collect()
    site.collect()
    assert (site.root / "robots.txt").exists()


def test_names_that_mean_something_to_the_bundler_are_files_like_others(site: Site) -> None:
    names = ["bundle.json", "a.module.css", "data.json.gz", "UP.PNG", "package.json", "b c.svg"]
    for name in names:
        site.write(name, ".kept-name{color:red}" if name.endswith(".css") else "{}")
    storage = site.collect()
    assert set(names) <= storage.hashed_files.keys()
    assert all((site.root / storage.hashed_files[name]).exists() for name in names)
    assert "kept-name" in (site.root / storage.hashed_files["a.module.css"]).read_text()


def test_before_files_are_collected_addresses_have_the_plain_names(tmp_path: Path) -> None:
    storage = HashedStaticFiles(location=tmp_path / "nothing")
    assert storage.url("page.css") == "/static/page.css"
