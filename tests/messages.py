"""Extracts the texts of templates, modules and the admin for translation: `python -m tests.messages` (make messages).

Finds every `t("…")`, `tn("…", "…", n)`, `{% translate "…" %}` and `gettext("…")` in the sources, updates the .po
files and compiles them. Translations are written by hand; tests/web/page/test_messages.py fails if one is missing.
"""

import io
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from babel.messages import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from tests.instance import ROOT

LOCALES = ("ar", "de", "es", "fr", "zh_Hans")
DOMAINS = ("django", "djangojs")
MODULES = sorted(path for app in ("web", "features/*") for path in ROOT.glob(f"{app}/static/chat/**/*.js"))
TEMPLATES = sorted(
    path
    for app in ("web", "features/*")
    for ending in ("html", "txt")
    for path in ROOT.glob(f"{app}/templates/**/*.{ending}")
)
IN_TEMPLATES = {"gettext": None, "ngettext": (1, 2)}
ADMIN = (
    *sorted((ROOT / "web" / "admin").glob("*.py")),
    ROOT / "chat" / "models" / "model_server_rules.py",
    ROOT / "web" / "admin_site.py",
    *sorted((ROOT / "features").glob("*/*.py")),
    # The cards of tools.
    *sorted((ROOT / "llm_worker" / "tools").glob("*/__init__.py")),
)
IN_ADMIN = {"_": None, "gettext_lazy": None, "ngettext": (1, 2), "ngettext_lazy": (1, 2)}
# A call of t or tn, not their definition.
CALL = re.compile(r"(?<![\w.$#])(?<!function )tn?\(")
# Messages are in double quotes, so they can be parsed as JSON.
TEXT = r'"(?:[^"\\]|\\.)*"'
LITERAL_CALL = re.compile(
    rf"(?<![\w.$#])(?:t\(\s*(?P<one>{TEXT})|tn\(\s*(?P<one_>{TEXT})\s*,\s*(?P<many>{TEXT}))"
)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)


class Found(NamedTuple):
    text: str | tuple[str, str]
    """One, or singular and plural."""
    file: Path


def found(domain: str) -> list[Found]:
    return list(in_modules() if domain == "djangojs" else (*in_templates(), *in_admin()))


def in_modules() -> Iterator[Found]:
    for file in MODULES:
        for call in LITERAL_CALL.finditer(_code(file)):
            one, many = (text and json.loads(text) for text in (call["one"] or call["one_"], call["many"]))
            yield Found((one, many) if many else one, file)


def in_templates() -> Iterator[Found]:
    # Pages, and texts of e-mails.
    for file in TEMPLATES:
        lines = templatize(file.read_text(encoding="utf-8")).splitlines()
        source = io.BytesIO("\n".join(line.strip() for line in lines).encode())
        rows = extract("python", source, keywords=IN_TEMPLATES)
        yield from (Found(text, file) for _line, text, _comments, _context in rows)


def in_admin() -> Iterator[Found]:
    for file in ADMIN:
        with file.open("rb") as source:
            rows = extract("python", source, keywords=IN_ADMIN)
            yield from (Found(text, file) for _line, text, _comments, _context in rows)


def calls_in(file: Path) -> int:
    return len(CALL.findall(_code(file)))


def _code(file: Path) -> str:
    return COMMENT.sub("", file.read_text(encoding="utf-8"))


def path_of(domain: str, locale: str) -> Path:
    """Return the .po file; the .mo file stands beside it."""
    return ROOT / "web" / "locale" / locale / "LC_MESSAGES" / f"{domain}.po"


def kept(domain: str, locale: str) -> Catalog:
    """Read the current .po file."""
    with path_of(domain, locale).open("rb") as file:
        return read_po(file, locale=locale, domain=domain)


def compiled(catalog: Catalog) -> bytes:
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def blank(domain: str, locale: str) -> Catalog:
    """Return an empty catalog with fixed dates, so that a file changes only when a text does."""
    return Catalog(
        locale=locale,
        domain=domain,
        header_comment="# Texts of Turnwire.",
        project="Turnwire",
        creation_date=LONG_AGO,
        revision_date=LONG_AGO,
        fuzzy=False,
    )


def refresh(domain: str, locale: str) -> int:
    """Update a .po file and its .mo file; return how many texts have no translation."""
    template = blank(domain, locale)
    for text, file in found(domain):
        template.add(text, locations=[(file.relative_to(ROOT).as_posix(), None)])
    path = path_of(domain, locale)
    catalog = kept(domain, locale) if path.exists() else blank(domain, locale)
    catalog.update(template, no_fuzzy_matching=True, update_header_comment=False)
    catalog.obsolete.clear()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, sort_output=True, omit_header=False, include_lineno=False, width=110)
    path.with_suffix(".mo").write_bytes(compiled(kept(domain, locale)))
    return sum(1 for message in catalog if message.id and not _is_translated(message))


def _is_translated(message: Message) -> bool:
    """In all its plural forms. A text that was never in the catalog has none."""
    forms = message.string if isinstance(message.string, tuple | list) else (message.string,)
    return all(forms)


if __name__ == "__main__":
    for language in LOCALES:
        for name in DOMAINS:
            sys.stdout.write(f"{language} {name}: {refresh(name, language)} without translation\n")
