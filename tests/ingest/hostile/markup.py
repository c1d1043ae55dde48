"""XML, SVG and HTML: entities, nesting, and what parsers take quadratic time for."""

import random
from typing import Final

from tests.ingest.documents import LAUGHS, XXE

HEAD: Final = '<?xml version="1.0"?>'
QUADRATIC: Final = f'{HEAD}<!DOCTYPE x [<!ENTITY a "{"a" * 50_000}">]><x>{"&a;" * 50_000}</x>'
OUTSIDE: Final = f'{HEAD}<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><x/>'
PARAMETER: Final = f'{HEAD}<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd">%a;]><x/>'
INCLUDE: Final = (
    '<x xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="file:///etc/passwd" parse="text"/></x>'
)
STYLED: Final = f'{HEAD}<?xml-stylesheet href="file:///etc/passwd"?><x/>'


def _garbage_tags(chance: random.Random) -> bytes:
    names = [bytes(chance.choices(b"abcdefgh", k=3)) for _ in range(200)]
    pieces = (
        chance.choice([b"<%s>", b"</%s>", b"<%s x='", b"&%s;", b"<!--%s", b"]]>%s"]) for _ in range(100_000)
    )
    return b"<html>" + b"".join(piece % chance.choice(names) for piece in pieces)


FILES: Final = {
    "xxe.xml": lambda _: XXE.encode(),
    "xxe.svg": lambda _: XXE.encode(),
    "xxe.xhtml": lambda _: XXE.encode(),
    "xxe.html": lambda _: XXE.encode(),
    "xxe-utf16.xml": lambda _: XXE.encode("utf-16"),
    "xxe-utf7.xml": lambda _: XXE.replace('"1.0"', '"1.0" encoding="UTF-7"').encode("utf-7"),
    "xxe-named-latin.xml": lambda _: XXE.replace('"1.0"', '"1.0" encoding="IBM037"').encode("cp037"),
    "xxe-parameter.xml": lambda _: PARAMETER.encode(),
    "xxe-outside.xml": lambda _: OUTSIDE.encode(),
    "xinclude.xml": lambda _: INCLUDE.encode(),
    "stylesheet.xml": lambda _: STYLED.encode(),
    "laughs.xml": lambda _: LAUGHS.encode(),
    "laughs.svg": lambda _: LAUGHS.encode(),
    "laughs.html": lambda _: LAUGHS.encode(),
    "laughs-late.xml": lambda _: (" " * 100_000 + "\n" + LAUGHS).encode(),
    "laughs-broken.xml": lambda _: (LAUGHS + "<").encode(),
    "quadratic.xml": lambda _: QUADRATIC.encode(),
    "entity-of-itself.xml": lambda _: f'{HEAD}<!DOCTYPE x [<!ENTITY a "&a;">]><x>&a;</x>'.encode(),
    "entities.xml": lambda _: (
        f"{HEAD}<!DOCTYPE x [" + "".join(f'<!ENTITY a{n} "x">' for n in range(50_000)) + "]><x/>"
    ).encode(),
    "long-doctype.xml": lambda _: f"{HEAD}<!DOCTYPE x [{'<!--' + 'x' * 5_000_000 + '-->'}]><x/>".encode(),
    "deep.xml": lambda _: b"<a>" * 500_000,
    "deep-closed.xml": lambda _: b"<a>" * 200_000 + b"</a>" * 200_000,
    "deep.svg": lambda _: b"<svg>" + b"<g>" * 200_000,
    "deep.html": lambda _: b"<div>" * 200_000 + b"x",
    "deep-inline.html": lambda _: b"<b><i>" * 100_000 + b"x",
    "verbatim.html": lambda _: b"<pre>a" + b" " * 500_000 + b"b</pre>",
    "misnested.html": lambda _: b"<b><p></b>" * 50_000 + b"x",
    "formatting.html": lambda _: b"<p>" + b"".join(b"<font a=%d>" % n for n in range(20_000)) + b"</p><p>x" * 50,
    "tables.html": lambda _: b"<table>" * 5_000 + b"<td>x",
    "cells.html": lambda _: b"<table><tr>" + b"<td>x" * 300_000,
    "spans.html": lambda _: b"<table><tr><td colspan=1000000 rowspan=1000000>x</table>",
    "lists.html": lambda _: b"<ul><li>" * 50_000,
    "numbered-lists.html": lambda _: b"<ol start=999999999 type=a><li>" * 50_000,
    "numbered-items.html": lambda _: b"<ol reversed>" + b"<li>x" * 300_000,
    "struck.html": lambda _: b"<del><p>x" * 50_000,
    "struck-words.html": lambda _: b"<del>x" * 200 + b"<br>x" * 200_000,
    "scripts.html": lambda _: b"<sup>x<sub>" * 50_000 + b"x" * 1_000_000,
    "rubies.html": lambda _: b"<ruby>x<rt>y" * 50_000,
    "styles.html": lambda _: b"<p style='text-decoration:" + b"text-decoration:" * 200_000 + b"'>x",
    "unclosed.html": lambda _: b"<a href='" + b"<b " * 500_000,
    "comments.html": lambda _: b"<!--" * 500_000,
    "cdata.xml": lambda _: b"<x>" + b"<![CDATA[x]]>" * 300_000 + b"</x>",
    "attributes.svg": lambda _: b"<svg " + b"".join(b'a%d="x" ' % n for n in range(50_000)) + b"/>",
    "attribute.html": lambda _: b'<p title="' + b"x" * 5_000_000 + b'">x',
    "namespaces.xml": lambda _: b"<x " + b"".join(b'xmlns:a%d="b%d" ' % (n, n) for n in range(50_000)) + b"/>",
    "instructions.xml": lambda _: b"<x>" + b"<?p q?>" * 300_000 + b"</x>",
    "references.html": lambda _: b"&amp;amp;" * 500_000 + b"&#x110000;&#0;&#xD800;",
    "data-urls.html": lambda _: b"<img src='data:image/png;base64," + b"A" * 5_000_000 + b"'>x",
    "script.html": lambda _: b"<script>" + b"while(1);" * 500_000,
    "plaintext.html": lambda _: b"<plaintext>" + b"<b>" * 100_000,
    "nul-tags.html": lambda _: b"<html>" + b"<b\x00c>x" * 90 + b"y" * 10_000,
    "garbage-tags.html": _garbage_tags,
}  # fmt: skip
