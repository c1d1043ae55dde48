"""Ten files of each kind of text file: HTML, EPUB, PDF as printed by Chromium, mail, CSV, and plain text."""

from email.message import EmailMessage
from typing import Final

from tests.ingest import documents
from tests.ingest.construct_words import Words

HTML: Final = {
    "article": "<h1>{3}</h1><p>{60}</p><h2>{4}</h2><p>{60}</p><blockquote>{20}</blockquote>",
    "nested lists": "<ul><li>{5}<ol><li>{8}</li><li>{8}</li></ol></li><li>{5}</li></ul><p>{20}</p>",
    "table": "<table><caption>{4}</caption><thead><tr><th>{1}</th><th>{2}</th></tr></thead>"
    + "<tr><td>{2}</td><td>{9}</td></tr>" * 8 + "<tfoot><tr><td>{1}</td><td>{1}</td></tr></tfoot></table>",
    "bold parts of words": "<p>{|40}</p><p>{20} <a href='#a'>{3}</a> {20}</p>",
    "definitions, details, captions": "<dl><dt>{2}</dt><dd>{12}</dd></dl><details><summary>{3}</summary><p>{12}</p></details>"
    "<figure><figcaption>{6}</figcaption></figure><address>{4}<br/>{4}</address>",
    "soft hyphens": "<p>{~60}</p><p>{20}</p>",
    "code": "<p>{10}</p><pre><code>{5}\n  {5}\n</code></pre><p><kbd>{1}</kbd> {10}</p>",
    "form": "<form><label>{3}</label><textarea>{8}</textarea><select><option>{2}</option><option>{2}</option></select>"
    "<input type='text' value='{4}'/><button>{2}</button></form>",
    "hidden": "<script>var never = 1</script><style>.unseen {}</style><!-- remark --><p>{30}</p><template>later</template>"
    "<nav>{5}</nav><footer>{6}</footer>",
    "alternative text, formula, drawing": "<p>{20}</p><img alt='{5}' src='a.png'/><p>{9}</p>"
    "<math><mtext>{3}</mtext></math><svg width='9' height='9'><text>{3}</text></svg><p>{9}</p>",
}  # fmt: skip
_CELLS: Final = "<tr><td>{2}</td><td>{14}</td><td>{5}</td></tr>" * 9
PRINTED: Final = {
    "article": HTML["article"],
    "two columns": "<h1>{4}</h1><div style='column-count:2'>" + "<p>{90}</p>" * 4 + "</div>",
    "three columns, hyphenated": "<div lang='de' style='column-count:3;text-align:justify'>" + "<p>{~80}</p>" * 3 + "</div>",
    "table with lines": f"<p>{{9}}</p><table border='1'>{_CELLS}</table><p>{{9}}</p>",
    "table of narrow cells": f"<table style='width:9cm;font-size:9pt'>{_CELLS}</table>",
    "nested lists": HTML["nested lists"],
    "footnotes": "<p>{20}<sup>1</sup> {30}<sup>2</sup> {9}</p><hr/><p style='font-size:8pt'>1 {12}</p><p style='font-size:8pt'>2 {12}</p>",
    "spaced capitals": "<h1 style='letter-spacing:.3em;text-transform:uppercase'>{4}</h1><p style='letter-spacing:.1em'>{20}</p>"
    "<p style='font-variant:small-caps'>{20}</p><p style='text-align:justify'>{~90}</p>",
    "boxes side by side": "<div style='display:flex;gap:1cm'>" + "<div style='flex:1'><h3>{2}</h3><p>{50}</p></div>" * 2 + "</div>",
    "five pages": "<h2>{3}</h2><p style='text-align:justify'>{250}</p><p style='break-after:page'>{~60}</p>" * 5,
}  # fmt: skip
_RTL_CELLS: Final = "<tr><td>{h2}</td><td>{h9} 1,250.50</td><td>{h2}</td></tr>" * 9
PRINTED_FROM_RIGHT: Final = {
    "arabic": "<div dir='rtl' lang='ar'><h1>{a4}</h1><p>{a90} 1250</p><p>{a60} ({a5}) 15% {a9}.</p></div>",
    "hebrew": "<div dir='rtl' lang='he'><h1>{h4}</h1><p>{h90} AB-77</p><p>{h60} ({h5}) 3/5/2024 {h9}.</p></div>",
    "hebrew table": f"<table dir='rtl' border='1'>{_RTL_CELLS}</table>",
    "mixed lines": "<p>{20} {h3} {20} ({h2}) {9}</p><p dir='rtl'>{h20} {3} {h20} ({2}) {h9}</p><p dir='rtl'>{a20} {3} 15 {a20}</p>",
    "arabic columns": "<div dir='rtl' lang='ar' style='column-count:2'>" + "<p>{a60}</p>" * 4 + "</div>",
}  # fmt: skip
# Name: encoding, template.
TEXTS: Final = {
    "utf-8": ("utf-8", "{100}\n\n{100}\n"),
    "utf-8 with a mark": ("utf-8-sig", "{100}\n"),
    "utf-16 with a mark": ("utf-16", "{100}\n"),
    "utf-16, big-endian, with a mark": ("utf-16-be", "\ufeff{100}\n"),
    "windows-1252": ("cp1252", "„{50}“ … {50}\r\n"),
    "latin-1, CRLF": ("iso-8859-1", "{50}\r\n{50}\r\n"),
    "markdown": ("utf-8", "# {3}\n\n- {5}\n- **{5}**\n\n[{3}](#a)\n"),
    "markdown table, code": ("utf-8", "| {1} | {1} |\n|---|---|\n| {3} | {3} |\n\n```\n{9}\n```\n"),
    "utf-16 without a mark": ("utf-16-le", "{100}\n"),
    "mac-roman": ("mac-roman", "{100}\n"),
}
_ROW: Final = "{1},{2},{1}\n"
# Name: encoding, template.
CSVS: Final = {
    "commas": ("utf-8", _ROW * 20),
    "semicolons": ("utf-8", _ROW.replace(",", ";") * 20),
    "tabs": ("utf-8", _ROW.replace(",", "\t") * 20),
    "bars": ("utf-8", _ROW.replace(",", "|") * 20),
    "breaks and quotes in cells": ("utf-8", '{1},"{2}\n{2}","{1} ""{1}"""\n' * 20),
    "utf-8 with a mark": ("utf-8-sig", _ROW * 20),
    "utf-16": ("utf-16", _ROW * 20),
    "windows-1252": ("cp1252", _ROW.replace(",", ";") * 20),
    "a title above": ("utf-8", "{4}\n\n" + _ROW * 20),
    "200 rows": ("utf-8", _ROW * 200),
}


def page(body: str, words: Words) -> str:
    return f"<html><head><meta charset='utf-8'/></head><body>{words.fill(body)}</body></html>"


def book(body: str, words: Words) -> bytes:
    """Return a book of two chapters. Its table of contents lists the second chapter first."""
    first = page(body, words)
    return documents.epub(first, **{"OPS/second.xhtml": page("<h2>{3}</h2><p>{30}</p>", words)})


def encoded(encoding: str, template: str, words: Words) -> bytes:
    return words.fill(template).encode(encoding)


# Name: subtype, charset, transfer encoding, body.
MAILS: Final = {
    "plain": ("plain", "utf-8", "8bit", "{30}\n\n{30}\n"),
    "quoted-printable, latin-1": ("plain", "iso-8859-1", "quoted-printable", "{60}\n"),
    "base64": ("plain", "utf-8", "base64", "{60}\n"),
    "windows-1252": ("plain", "cp1252", "8bit", "{60}\n"),
    "HTML alone": ("html", "utf-8", "quoted-printable", HTML["article"]),
    "HTML, latin-1": ("html", "iso-8859-1", "quoted-printable", HTML["table"]),
    "both": ("plain", "utf-8", "8bit", "{60}\n"),
    "attached program": ("plain", "utf-8", "8bit", "{60}\n"),
    "forwarded mail": ("plain", "utf-8", "8bit", "{20}\n"),
    "signed": ("plain", "utf-8", "7bit", "{20}\n"),
}


def mail(name: str, words: Words) -> bytes:
    subtype, charset, transfer, template = MAILS[name]
    message = _headed(words, ("From", " <alice@example.org>"), ("Subject", ""))
    body = words.fill(template)
    message.set_content(
        body, subtype=subtype, charset=charset, cte="base64" if transfer == "7bit" else transfer
    )
    if name == "both":
        message.add_alternative(f"<p>{body}</p>", subtype="html")
    if name == "attached program":
        message.add_attachment(
            b"\0", maintype="application", subtype="x", filename=words(1) + words.say(".bin")
        )
    if name == "forwarded mail":
        inner = _headed(words, ("To", " <bob@beach.net>"), ("Cc", " <carol@moon.eu>"))
        inner.set_content(words.fill("{40}\n"))
        message.add_attachment(inner)
    if name == "signed":
        message.add_attachment(
            b"\0", maintype="application", subtype="pkcs7-signature", filename=words.say("smime.p7s")
        )
    return bytes(message)


def _headed(words: Words, *headers: tuple[str, str]) -> EmailMessage:
    """Return a message with these headers. headers: names, and the endings that follow the words of their values."""
    message = EmailMessage()
    for name, end in headers:  # in one expression, the value would be created before the name
        words.say(name)
        message[name] = words(2 if end else 6) + words.say(end)
    return message
