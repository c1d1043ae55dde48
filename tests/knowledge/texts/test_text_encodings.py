"""Bytes become text by what is certain: a mark, what is said of them, what they declare, UTF-8."""

import codecs

import pytest

from knowledge.texts.text_encodings import as_utf8, declared_charset, decode_certain

pytestmark = pytest.mark.pure

JAPANESE = "会議は来週の月曜日に開催されます"


@pytest.mark.parametrize(
    ("source", "charset"),
    [
        pytest.param(b'<!DOCTYPE html><html><head><meta charset="Shift_JIS">', "shift_jis", id="HTML"),
        pytest.param(b"<meta http-equiv='Content-Type' content='text/html; charset=GB2312'>", "gb2312", id="http-equiv"),
        pytest.param(b'\n<?xml version="1.0" encoding="EUC-KR"?><x/>', "euc-kr", id="XML"),
        pytest.param(b'<!-- <meta charset="big5"> --><meta charset=koi8-r>', "koi8-r", id="not in a comment"),
        pytest.param(b'Write `<meta charset="big5">` into the head.', "", id="a text about declarations"),
        pytest.param(b"<p>No declaration", "", id="none"),
    ],
)  # fmt: skip
def test_what_a_text_declares_of_itself(source: bytes, charset: str) -> None:
    assert declared_charset(source) == charset


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(codecs.BOM_UTF8 + b"<meta charset=gbk>" + JAPANESE.encode(), f"<meta charset=gbk>{JAPANESE}", id="a mark counts more than a declaration"),
        pytest.param(JAPANESE.encode("utf-16"), JAPANESE, id="a mark of UTF-16"),
        pytest.param(b"<meta charset=gb2312>" + "联通镕".encode("gbk"), "<meta charset=gb2312>联通镕", id="a declaration counts more than that it could be UTF-8"),
        pytest.param(b"<meta charset=utf-16>" + JAPANESE.encode(), f"<meta charset=utf-16>{JAPANESE}", id="what can be read as ASCII is not UTF-16"),
        pytest.param(b"<meta charset=latin1>" + "„10 €“".encode("cp1252"), "<meta charset=latin1>„10 €“", id="Latin-1 means Windows-1252"),
        pytest.param(b"<meta charset=euc-kr>" + JAPANESE.encode(), f"<meta charset=euc-kr>{JAPANESE}", id="a declaration that does not hold is passed over"),
        pytest.param(JAPANESE.encode() * 9 + b"\xe9!", JAPANESE * 9 + "\ufffd!", id="one damaged character"),
        pytest.param("Прилив".encode("cp1251"), None, id="nothing is certain"),
    ],
)  # fmt: skip
def test_the_order_of_what_counts(content: bytes, text: str | None) -> None:
    assert decode_certain(content) == text


def test_what_is_said_beside_a_text_counts_more_than_what_it_declares() -> None:
    content = b"<meta charset=utf-8>" + JAPANESE.encode("cp932")
    assert decode_certain(content, "shift_jis") == f"<meta charset=utf-8>{JAPANESE}"
    assert decode_certain(b"Pr\xc3\xa4mie", "us-ascii") == "Prämie"


@pytest.mark.parametrize("charset", ["shift_jis", "utf-8"])
def test_a_fetched_page_is_read_as_its_server_says_whatever_it_declares(charset: str) -> None:
    page = f"<meta charset=windows-1251>{JAPANESE}"
    assert decode_certain(as_utf8(page.encode(charset), charset)) == page


@pytest.mark.parametrize("charset", ["iso-8859-1", "shift_jis", "utf-8", ""])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_fetched_page_with_a_mark_is_read_by_it_whatever_its_server_says(
    encoding: str, charset: str
) -> None:
    assert as_utf8(JAPANESE.encode(encoding), charset).decode("utf-8-sig") == JAPANESE
