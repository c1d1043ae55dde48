"""The manifest with which browsers install the page: public, and its icons are what it says."""

import re
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.test import Client
from PIL import Image

from web.page.index import GROUND, ICONS

ADDRESS = "/manifest.webmanifest"


def icon(name: str) -> Path:
    found = finders.find(f"chat/elements/{name}")
    assert isinstance(found, str)
    return Path(found)


@pytest.mark.django_db
def test_the_manifest_describes_an_app_of_our_own_origin_to_anybody() -> None:
    answer = Client().get(ADDRESS)
    assert answer.status_code == HTTPStatus.OK
    assert answer["Content-Type"] == "application/manifest+json"
    assert not answer.cookies
    described = answer.json()
    assert described["name"] == described["short_name"] == "Turnwire"
    assert (described["start_url"], described["scope"], described["display"]) == ("/", "/", "standalone")
    assert all(each["src"].startswith("/static/chat/elements/") for each in described["icons"])
    assert {each["sizes"] for each in described["icons"] if each["purpose"] == "any"} >= {
        "192x192",
        "512x512",
    }
    assert [each["sizes"] for each in described["icons"] if each["purpose"] == "maskable"] == ["512x512"]


@pytest.mark.django_db
def test_the_manifest_names_the_icons_by_the_hashes_of_the_collected_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed = {f"chat/elements/{name}": f"chat/elements/{name}.0123456789ab" for name in ICONS}
    for name, new in hashed.items():
        monkeypatch.setitem(staticfiles_storage.hashed_files, name, new)
    named = [each["src"] for each in Client().get(ADDRESS).json()["icons"]]
    assert named == [f"/static/{name}" for name in hashed.values()]


@pytest.mark.django_db
def test_the_manifest_is_kept_for_an_hour_and_then_sent_only_if_it_has_changed() -> None:
    answer = Client().get(ADDRESS)
    assert set(answer["Cache-Control"].split(", ")) == {"max-age=3600", "public"}
    again = Client().get(ADDRESS, headers={"if-none-match": answer["ETag"]})
    assert again.status_code == HTTPStatus.NOT_MODIFIED


@pytest.mark.pure
@pytest.mark.parametrize("name", [name for name in ICONS if name.endswith(".png")])
def test_an_icon_has_the_size_that_the_manifest_says(name: str) -> None:
    with Image.open(BytesIO(icon(name).read_bytes())) as image:
        assert "{}x{}".format(*image.size) == ICONS[name][0]
        assert image.format == "PNG"


@pytest.mark.pure
def test_the_maskable_icon_is_opaque_to_its_corners() -> None:
    with Image.open(icon("icon-maskable-512.png")) as image:
        lightest_alpha = image.convert("RGBA").getchannel("A").getextrema()[0]
        assert lightest_alpha == 255
        assert image.convert("RGB").getpixel((0, 0)) == (0x2F, 0x6F, 0x6A)


@pytest.mark.django_db
def test_every_page_links_the_manifest_and_its_policy_admits_it() -> None:
    answer = Client().get("/login/")
    assert f'<link rel="manifest" href="{ADDRESS}">' in answer.content.decode()
    assert "manifest-src 'self'" in answer["Content-Security-Policy"]
    assert re.search(r'<link rel="apple-touch-icon" href="[^"]+\.png">', answer.content.decode())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("theme", "shown"),
    [
        ("light", [("light", "")]),
        ("dark", [("dark", "")]),
        ("system", [("light", "(prefers-color-scheme: light)"), ("dark", "(prefers-color-scheme: dark)")]),
    ],
)
def test_the_window_has_the_ground_of_the_theme(theme: str, shown: list[tuple[str, str]]) -> None:
    browser = Client()
    browser.cookies["theme"] = theme
    html = browser.get("/login/").content.decode()
    found = re.findall(r'<meta name="theme-color" content="([^"]+)"(?: media="([^"]+)")?>', html)
    grounds = grounds_of_the_styles()
    assert found == [(grounds[each], media) for each, media in shown]
    assert grounds["light"] == GROUND


def grounds_of_the_styles() -> dict[str, Any]:
    styles = Path(str(finders.find("chat/base.css"))).read_text(encoding="utf-8")
    light, dark = re.findall(r"--ground: light-dark\((#\w+), (#\w+)\)", styles)[0]
    return {"light": light, "dark": dark}
