"""The structure of the packages: no import runs back up, nothing is circular, and `chat` stays a short table of contents."""

import pytest

from tests.structure import PACKAGES, PRESCRIBED, ROOT, Structure, structures

pytestmark = [pytest.mark.pure, pytest.mark.documents]

# 15 before knowledge bases, which are a concept of their own (decision 0060).
ENTRIES_OF_CHAT = 16


@pytest.fixture(scope="module")
def by_package() -> dict[str, Structure]:
    return {structure.package: structure for structure in structures(ROOT)}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_runs_back_up(by_package: dict[str, Structure], package: str) -> None:
    assert by_package[package].back_up == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_import_each_other(by_package: dict[str, Structure], package: str) -> None:
    assert by_package[package].module_circles == []


def test_the_top_level_of_chat_is_a_short_table_of_contents(by_package: dict[str, Structure]) -> None:
    assert len(set(by_package["chat"].entries) - PRESCRIBED) <= ENTRIES_OF_CHAT


def test_only_django_asks_for_its_debug_setting() -> None:
    """It is always off, so that no technical error page exists; sources ask for settings.DEVELOPMENT."""
    readers = [
        path.relative_to(ROOT)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "settings.DEBUG" in path.read_text(encoding="utf-8")
    ]
    assert readers == []
