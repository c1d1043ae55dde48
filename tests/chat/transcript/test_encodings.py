"""The installed encodings: none of them is downloaded."""

import gzip
import socket
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from tiktoken_ext import openai_public

from chat.transcript.tokens import (
    CL100K_PATTERN,
    DEFAULT,
    O200K_PATTERN,
    count_tokens,
    installed_encodings,
    load_encoding,
)

pytestmark = pytest.mark.pure


def test_two_encodings_are_installed():
    assert installed_encodings() == (DEFAULT, "o200k_base")


@pytest.mark.slow
@pytest.mark.parametrize("name", installed_encodings())
def test_an_encoding_is_loaded_without_a_network(name, monkeypatch):
    def refuse(*_args, **_fields):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    load_encoding.cache_clear()
    assert len(load_encoding(name).encode_ordinary("So be it.")) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "default", "newer"),
    [("नमस्ते दुनिया " * 50, 700, 202), ("HTMLParserXMLHttpRequest " * 50, 201, 251), ("\ud83d", 1, 1)],
)
def test_encodings_count_differently(text, default, newer):
    assert (count_tokens(text), count_tokens(text, "o200k_base")) == (default, newer)


@pytest.mark.parametrize(
    ("name", "our_pattern"), [("cl100k_base", CL100K_PATTERN), ("o200k_base", O200K_PATTERN)]
)
def test_an_encoding_is_the_one_that_tiktoken_would_download(monkeypatch, name, our_pattern):
    """The vocabulary has the digest that tiktoken expects, and the pattern is tiktoken's."""
    expected = {}
    monkeypatch.setattr(
        openai_public,
        "load_tiktoken_bpe",
        lambda _url, expected_hash: expected.setdefault("hash", expected_hash),
    )
    pattern = getattr(openai_public, name)()["pat_str"]
    folder = Path(find_spec("bpe_openai").submodule_search_locations[0])
    vocabulary = gzip.decompress((folder / "data" / f"{name}.tiktoken.gz").read_bytes())
    assert (sha256(vocabulary).hexdigest(), our_pattern) == (expected["hash"], pattern)
