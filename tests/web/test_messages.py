"""German is whole: every text of the sources has one, with the same holes, and what is compiled is what was written."""

import re

import pytest
from babel.messages import Message

from tests import messages

HOLE = re.compile(r"%\(\w+\)s")


def test_every_text_of_a_module_is_a_literal_that_can_be_found() -> None:
    found = [file for _text, file in messages.in_modules()]
    calls = {file: messages.calls_in(file) for file in messages.MODULES.rglob("*.js")}
    assert {file.name: count for file, count in calls.items() if count != found.count(file)} == {}


@pytest.mark.parametrize("domain", messages.DOMAINS)
def test_german_has_every_text_and_no_other(domain: str) -> None:
    written = {message.id: message.string for message in messages.kept(domain) if message.id}
    assert set(written) == {text for text, _file in messages.found(domain)}
    assert [text for text, german in written.items() if not all(_forms(german))] == []


@pytest.mark.parametrize("domain", messages.DOMAINS)
def test_german_has_the_holes_of_the_english(domain: str) -> None:
    assert [
        message.id for message in messages.kept(domain) if message.id and not _has_its_holes(message)
    ] == []


@pytest.mark.parametrize("domain", messages.DOMAINS)
def test_the_compiled_texts_are_the_written_ones(domain: str) -> None:
    compiled = messages.compiled(messages.kept(domain))
    assert (messages.FOLDER / f"{domain}.mo").read_bytes() == compiled, "run make messages"


def _has_its_holes(message: Message) -> bool:
    wanted = set(HOLE.findall(" ".join(_forms(message.id))))
    return set(HOLE.findall(" ".join(_forms(message.string)))) == wanted


def _forms(text: str | tuple[str, ...]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)
