"""Twenty-one web pages.
Each has a main text with known words, between menus, advertisements and footers with known words.
"""

import random
from typing import Final

from tests.ingest.construct_words import Words, split

# The main text of each page. {n}: n words.
PAGES: Final = {
    "article": "<main><article><h1>{6}</h1><p>{60}</p><h2>{4}</h2><p>{60}</p><blockquote><p>{20}</p></blockquote><p>{40}</p></article></main>",
    "article with comments": "<article><h1>{6}</h1><p>{60}</p><p>{60}</p></article><!--comments-->",
    "article without marks": "<div class='c1'><div>{6}</div><div>{60}</div><div>{70}</div><div>{50}</div></div>",
    "article in a layout of tables": "<table><tr><td width='70%'><font size='4'>{5}</font><br><br>{60}<br><br>{60}<br><br>{50}</td></tr></table>",
    "short note": "<article><h1>{5}</h1><p>{25}</p></article>",
    "documentation": "<main><h1>{3}</h1><p>{30}</p><h2>{2}</h2><pre><code>{8}\n{8}\n{6}</code></pre><p>{30}</p><h2>{2}</h2><ul><li>{10}</li><li>{12}</li><li>{9}</li></ul></main>",
    "reference": "<main><h1>{2}</h1><table><thead><tr><th>{1}</th><th>{1}</th></tr></thead>"
    + "<tr><td><code>{1}</code></td><td>{14}</td></tr>" * 12 + "</table></main>",
    "table of figures": "<div id='content'><h1>{5}</h1><p>{18}</p><table>" + "<tr><td>{2}</td><td>{1}</td><td>{1}</td></tr>" * 25 + "</table></div>",
    "forum": "<div class='question'><h1>{9}</h1><div class='post-text'><p>{50}</p><pre>{12}</pre></div></div>"
    + "<div class='answer'><div class='post-text'><p>{45}</p><p>{20}</p></div></div>" * 3,
    "recipe": "<article><h1>{4}</h1><p>{30}</p><h2>{1}</h2><ul>" + "<li>{4}</li>" * 10 + "</ul><h2>{1}</h2><ol>" + "<li>{18}</li>" * 6 + "</ol></article>",
    "product": "<main><h1>{6}</h1><p class='price'>{2}</p><div class='description'><p>{40}</p></div><dl>" + "<dt>{2}</dt><dd>{4}</dd>" * 8 + "</dl></main>",
    "encyclopedia": "<div id='mw-content-text'><table class='infobox'><tr><th>{2}</th><td>{3}</td></tr><tr><th>{1}</th><td>{2}</td></tr></table>"
    "<p>{70}<sup>[1]</sup></p><h2>{2}</h2><p>{60}</p><h2>{2}</h2><p>{60}</p></div>",
    "questions and answers": "<main><h1>{4}</h1>" + "<details><summary>{8}</summary><p>{25}</p></details>" * 6 + "</main>",
    "law": "<main><h1>{4}</h1><ol>" + "<li>{20}<ol><li>{15}</li><li>{15}</li></ol></li>" * 4 + "</ol></main>",
    "live report": "<main><h1>{8}</h1>" + "<section><time>10:0{1}</time><h3>{5}</h3><p>{22}</p></section>" * 10 + "</main>",
    "list of links": "<main><h1>{3}</h1><ul>" + "<li><a href='/x'>{6}</a> {8}</li>" * 15 + "</ul></main>",
    "letter in one block": "<body-text><div>{40}<br>{40}<br>{40}<br>{40}</div></body-text>",
    "Chinese": "<article><h1>{1}</h1>" + "<p>{9}</p>" * 12 + "</article>",
    "Arabic": "<article dir='rtl'><h1>{5}</h1>" + "<p>{40}</p>" * 5 + "</article>",
    "five megabytes": "<article><h1>{5}</h1>" + "<p>{60}</p>" * 20 + "<svg><!--" + "x" * 5_000_000 + "--></svg></article>",
    "scripts alone": "<div id='root'></div><script>window.state = {}</script>",
}  # fmt: skip
_HEAD: Final = """<!doctype html><html><head><meta charset="utf-8"><title>A page</title><script>var tracking = 1;</script></head><body>
<header><a href="/">{2}</a><nav><ul>""" + "<li><a href='/{1}'>{2}</a></li>" * 8 + """</ul></nav></header>
<div class="cookie-banner"><p>{18}</p><button>{1}</button></div>
<aside class="sidebar"><h3>{2}</h3><ul>""" + "<li><a href='/a'>{6}</a></li>" * 6 + "</ul></aside>\n"  # fmt: skip
_FOOT: Final = """\n<div class="related"><h3>{2}</h3>""" + "<a href='/b'><h4>{7}</h4></a>" * 4 + """</div>
<div class="newsletter"><form><label>{6}</label><input type="email"><button>{1}</button></form></div>
<footer><p>{12}</p><a href="/imprint">{1}</a> <a href="/privacy">{2}</a></footer></body></html>"""  # fmt: skip
_COMMENTS: Final = (
    "<section class='comments'>" + "<div class='comment'><b>{1}</b><p>{30}</p></div>" * 15 + "</section>"
)
_LETTERS: Final = {
    "Chinese": "".join(map(chr, range(0x4E00, 0x5200))),
    "Arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
}


class _OtherWords(Words):
    """Words of another script. A Chinese word is the text between two commas."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._letters = _LETTERS[name]
        self._random = random.Random(name)

    def __call__(self, number: int) -> str:
        length, between = (9, "\uff0c") if "\u4e00" in self._letters else (5, " ")
        words = ["".join(self._random.choices(self._letters, k=length)) for _ in range(number)]
        self.order += [part for word in words for part in split(word)]
        return between.join(words)


def make(name: str) -> tuple[str, list[str], list[str]]:
    """Return the source of a page, the words of its main text, and the surrounding words."""
    main = _OtherWords(name) if name in _LETTERS else Words(name)
    # Another seed, and the words of the main text marked as used.
    around = Words(f"{name}, around")
    around._used |= main._used
    comments = _COMMENTS if "<!--comments-->" in PAGES[name] else ""
    source = around.fill(_HEAD) + main.fill(PAGES[name]) + around.fill(comments + _FOOT)
    known = set(main.order)
    return source, main.order, [word for word in around.order if word not in known]
