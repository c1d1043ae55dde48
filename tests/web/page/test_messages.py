"""The translations are complete: every text has one with the same placeholders, and the .mo files are current."""

import ast
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from gettext import c2py
from pathlib import Path

import pytest
from babel.messages import Message
from django.conf import settings
from django.contrib import admin
from django.test import RequestFactory
from django.utils import translation
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import to_locale
from django.views.i18n import JSONCatalog

from chat.models import CitedDocument, PromptBlock
from tests import messages
from tests.instance import ROOT

pytestmark = [pytest.mark.documents]

EVERY_FILE = pytest.mark.parametrize(
    ("domain", "locale"), [(domain, locale) for domain in messages.DOMAINS for locale in messages.LOCALES]
)
HOLE = re.compile(r"%\(\w+\)[\d.]*[sdf]")
# Where Python texts of the admin are shown: keyword arguments, class attributes, positional arguments.
BY_NAME = {"description", "title", "label", "help_text", "verbose_name", "verbose_name_plural", "why"}
OF_CLASS = BY_NAME | {"search_help_text", "index_title"}
BY_PLACE = {
    "add_lane": 0,
    "draw_columns": 0,
    "draw_lines": 0,
    "ValidationError": 0,
    "message_user": 1,
    "apply_and_log": 3,
}
# Matches tags and variables of a template. Names and units are the same in every language.
IN_TEMPLATE = re.compile(r"{% blocktranslate.*?endblocktranslate %}|{%.*?%}|{{.*?}}|<[^>]*>|&\w+;", re.DOTALL)
SAME = {"ms", "s", "p95", "UTC"}
TEXT_ATTRIBUTES = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"{]*[A-Za-z]{2}[^"{]*)')


def test_every_text_of_a_module_is_a_literal_that_can_be_found() -> None:
    found = [file for _text, file in messages.in_modules()]
    calls = {file: messages.calls_in(file) for file in messages.MODULES}
    assert {file.name: count for file, count in calls.items() if count != found.count(file)} == {}


def test_the_admin_says_nothing_that_gettext_does_not_know() -> None:
    found = {file.name: list(_english_in(file)) for file in messages.ADMIN}
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_the_templates_of_the_admin_have_no_words_outside_of_translate() -> None:
    texts = {
        file.name: file.read_text(encoding="utf-8") for file in messages.TEMPLATES if "admin" in file.parts
    }
    assert {name: words for name, text in texts.items() if (words := _untranslated(text))} == {}


def _untranslated(template: str) -> set[str]:
    words = set(re.findall(r"[A-Za-z]\w+", IN_TEMPLATE.sub(" ", template)))
    return words.union(TEXT_ATTRIBUTES.findall(template)) - SAME


def test_every_table_and_column_of_the_admin_has_a_name_in_german() -> None:
    ours = [table for table in admin.site._registry if table._meta.app_label == "chat"]
    named = [
        one
        for table in (*ours, CitedDocument, PromptBlock)
        for one in (table._meta, *table._meta.fields, *table._meta.many_to_many)
    ]
    texts = [(str(one), one.verbose_name) for one in named]
    texts += [(str(one), one.help_text) for one in named if getattr(one, "help_text", "")]
    assert [(one, text) for one, text in texts if not isinstance(text, Promise)] == []


@EVERY_FILE
def test_a_translation_has_every_text_and_no_other(domain: str, locale: str) -> None:
    written = {message.id: message.string for message in messages.kept(domain, locale) if message.id}
    assert set(written) == {text for text, _file in messages.found(domain)}
    assert [text for text, string in written.items() if not all(_forms(string))] == []


@EVERY_FILE
def test_a_translation_has_the_holes_of_the_english(domain: str, locale: str) -> None:
    found = messages.kept(domain, locale)
    assert [message.id for message in found if message.id and not _has_its_holes(message)] == []


@EVERY_FILE
def test_the_compiled_texts_are_the_written_ones(domain: str, locale: str) -> None:
    compiled = messages.compiled(messages.kept(domain, locale))
    path = messages.path_of(domain, locale).with_suffix(".mo")
    assert path.read_bytes() == compiled, "run make messages"


def test_the_page_offers_every_language_by_its_own_name() -> None:
    dialog = (ROOT / "web/static/chat/settings/settings_dialog.js").read_text(encoding="utf-8")
    offered = re.findall(r'\{ value: "([\w-]+)", label: "([^"]+)" \}', dialog)
    assert offered == settings.LANGUAGES
    assert {to_locale(code) for code, _name in offered} == {"en", *messages.LOCALES}


@pytest.mark.parametrize(
    ("language", "forms"),
    [("de", [1, 0, 1]), ("es", [1, 0, 1]), ("fr", [0, 0, 1]), ("zh-hans", [0, 0, 0])],
)
def test_the_page_is_told_which_form_belongs_to_none_one_and_two(language: str, forms: list[int]) -> None:
    with translation.override(language):
        catalog = json.loads(JSONCatalog.as_view(packages=["web"])(RequestFactory().get("/")).content)
    assert [int(c2py(catalog["plural"])(count)) for count in range(3)] == forms
    assert len(catalog["catalog"]["%(count)s chat found"]) == len(set(forms))


def test_arabic_has_six_forms_of_a_number() -> None:
    with translation.override("ar"):
        catalog = json.loads(JSONCatalog.as_view(packages=["web"])(RequestFactory().get("/")).content)
    assert [int(c2py(catalog["plural"])(count)) for count in (0, 1, 2, 5, 100, 42)] == [*range(6)]
    assert len(catalog["catalog"]["%(count)s chat found"]) == 6


@pytest.mark.parametrize("language", dict(settings.LANGUAGES))
def test_the_admin_writes_times_in_one_way_in_every_language(language: str) -> None:
    with translation.override(language):
        assert (
            date_format(datetime(2026, 3, 1, 14, 5, 9, tzinfo=UTC), "DATETIME_FORMAT")
            == "2026-03-01 14:05:09"
        )


@EVERY_FILE
def test_no_translation_says_a_text_twice(domain: str, locale: str) -> None:
    forms = [
        form for message in messages.kept(domain, locale) if message.id for form in _forms(message.string)
    ]
    assert [form for form in forms if re.fullmatch(r"(.{20,}?)\1+", form, re.DOTALL)] == []


def _english_in(file: Path) -> Iterator[str]:
    """Yield untranslated texts in places that the admin shows."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        shown: list[ast.expr] = []
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            shown += [keyword.value for keyword in node.keywords if keyword.arg in BY_NAME]
            shown += [argument for place, argument in enumerate(node.args) if BY_PLACE.get(called) == place]
        elif isinstance(node, ast.Assign) and {getattr(one, "id", "") for one in node.targets} & OF_CLASS:
            shown.append(node.value)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            pairs = zip(node.targets[0].elts, node.value.elts, strict=True)
            shown += [value for name, value in pairs if getattr(name, "id", "") in OF_CLASS]
        yield from (words for one in shown if set(re.findall("[A-Za-z]+", words := _words(one))) - SAME)


def _words(text: ast.expr) -> str:
    """Return the literal text of a string or an f-string."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(
        part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _has_its_holes(message: Message) -> bool:
    wanted = set(HOLE.findall(" ".join(_forms(message.id))))
    return set(HOLE.findall(" ".join(_forms(message.string)))) == wanted


def _forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)
