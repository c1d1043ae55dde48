"""Messages of electronic mail: nesting, endless headers, encodings that grow or take quadratic time."""

import random
from base64 import b64encode
from functools import partial
from typing import Final

TEXT: Final = b"Content-Type: text/plain; charset=%s\r\n\r\n%s"


def encoded(encoding: bytes, content: bytes, charset: bytes = b"utf-8") -> bytes:
    return b"Subject: x\r\nContent-Transfer-Encoding: %s\r\n" % encoding + TEXT % (charset, content)


def multipart(boundary: bytes, *parts: bytes, kind: bytes = b"mixed") -> bytes:
    head = b'Content-Type: multipart/%s; boundary="%s"\r\n\r\n' % (kind, boundary)
    return head + b"".join(b"--%s\r\n%s\r\n" % (boundary, part) for part in parts)


def _charset(name: bytes, chance: random.Random) -> bytes:
    return TEXT % (name, chance.randbytes(300_000).hex().encode())


def _garbage(chance: random.Random) -> bytes:
    words = [
        b"From",
        b":",
        b"\r\n",
        b"Content-Type",
        b"multipart/",
        b"boundary=",
        b'"',
        b";",
        b"--",
        b"(",
        b"=?",
        b"<",
    ]
    return b"From: a\r\n" + b"".join(chance.choices(words, k=100_000))


CHARSETS: Final = (
    b"punycode",
    b"idna",
    b"unicode_escape",
    b"utf-7",
    b"zlib",
    b"hz",
    b"x" * 100_000,
    b'"\x00"',
)
FILES: Final = {
    "deep.eml": lambda _: b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (n, n) for n in range(3_000)
    ),
    "same-boundary.eml": lambda _: multipart(b"b") * 3_000,
    "messages.eml": lambda _: b"Content-Type: message/rfc822\r\n\r\n" * 5_000 + b"x",
    "parts.eml": lambda _: multipart(b"b", *[TEXT % (b"utf-8", b"x")] * 30_000),
    "attachments.eml": lambda _: multipart(
        b"b", *[b'Content-Disposition: attachment; filename="%d"\r\n\r\nx' % n for n in range(20_000)]
    ),
    "alternatives.eml": lambda _: multipart(b"b", kind=b"alternative") * 3_000,
    "calendar.eml": lambda _: b"Content-Type: text/calendar\r\n\r\n" + b"BEGIN:VALARM\r\nX:y\r\n" * 200_000,
    "related.eml": lambda _: multipart(b"b", *[TEXT % (b"utf-8", b"x")] * 1_000, kind=b"related"),
    "no-end.eml": lambda _: multipart(b"b") + b"--b" * 500_000,
    "long-boundary.eml": lambda _: multipart(b"b" * 1_000_000, b"x"),
    "headers.eml": lambda _: b"".join(b"X-%d: =?utf-8?q?=41?=\r\n" % n for n in range(50_000)) + b"\r\nx",
    "folded.eml": lambda _: b"Subject: x" + b"\r\n y" * 300_000 + b"\r\n\r\nx",
    "long-header.eml": lambda _: b"Subject: " + b"=?utf-8?q?=41?= " * 100_000 + b"\r\n\r\nx",
    "words.eml": lambda _: b"Subject: =?utf-8?b?" + b64encode(b"x" * 1_000_000) + b"?=\r\n\r\nx",
    "comments.eml": lambda _: b"From: " + b"(" * 100_000 + b"\r\n\r\nx",
    "addresses.eml": lambda _: b"To: " + b"a@example.org, " * 50_000 + b"\r\n\r\nx",
    "groups.eml": lambda _: b"To: " + b"a:" * 50_000 + b";" * 50_000 + b"\r\n\r\nx",
    "quotes.eml": lambda _: b'From: "' + b'\\"' * 200_000 + b"\r\n\r\nx",
    "parameters.eml": lambda _: b"Content-Type: text/plain" + b"".join(b"; a*%d*=x" % n for n in range(20_000)) + b"\r\n\r\nx",
    "date.eml": lambda _: b"Date: " + b"9" * 100_000 + b"\r\n\r\nx",
    "soft-breaks.eml": lambda _: encoded(b"quoted-printable", b"=\r\n" * 3_000_000),
    "quoted.eml": lambda _: encoded(b"quoted-printable", b"=41=42=0A" * 800_000),
    "half-quoted.eml": lambda _: encoded(b"quoted-printable", b"=4" * 2_000_000),
    "base64.eml": lambda _: encoded(b"base64", b64encode(b"tide " * 2_000_000)),
    "wrong-base64.eml": lambda _: encoded(b"base64", b"=A" * 2_000_000),
    "uuencoded.eml": lambda _: encoded(b"uuencode", b"begin 644 x\n" + b"M" * 3_000_000),
    "html.eml": lambda _: b"Content-Type: text/html\r\n\r\n" + b"<div>" * 200_000,
    "surrogates.eml": lambda _: TEXT % (b"utf-8", b"\xed\xa0\x80" * 100_000),
    "empty-head.eml": lambda _: b"\r\n\r\n",
    "garbage.eml": _garbage,
    **{f"charset-{number}.eml": partial(_charset, name) for number, name in enumerate(CHARSETS)},
}  # fmt: skip
