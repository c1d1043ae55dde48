"""Share of words in old encodings that are read correctly: `python -m bench.encodings [--others PYTHON]`.

The texts are Django's translations: sentences by people, in every language. Only words beyond ASCII count. PYTHON: the
interpreter of an environment outside the project that has charset-normalizer, chardet and faust-cchardet.
"""

import argparse
import base64
import gettext
import json
import random
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

import django

from ingest.reader.text import decode

PAIRS: Final = (
    ("zh_Hans", "gbk"), ("zh_Hans", "gb18030"), ("zh_Hant", "big5"), ("ja", "shift_jis"), ("ja", "euc_jp"), ("ko", "euc_kr"),
    ("pl", "cp1250"), ("cs", "cp1250"), ("ru", "cp1251"), ("uk", "cp1251"), ("de", "cp1252"), ("fr", "cp1252"), ("es", "cp1252"),
    ("el", "cp1253"), ("tr", "cp1254"), ("he", "cp1255"), ("ar", "cp1256"), ("lt", "cp1257"), ("ru", "koi8_r"),
)  # fmt: skip
LINES: Final = (1, 4, 40)
FORMATS: Final = ("txt", "csv", "html")
REPEATED: Final = 6
SEED: Final = 7
# The encoding that each library detects; a library that can be limited gets the encodings that our reader
# distinguishes.
OTHERS: Final = """
import base64, json, sys
names = "cp932 euc_jp cp949 gb18030 big5 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 koi8_r".split()
def normalizer(content):
    from charset_normalizer import from_bytes
    best = from_bytes(content, cp_isolation=["utf_8", *names]).best()
    return best and best.encoding
def chardet(content):
    from chardet import detect
    return detect(content, prefer_superset=True)["encoding"]
def cchardet(content):
    from cchardet import detect
    return detect(content)["encoding"]
contents = [base64.b64decode(each) for each in json.load(sys.stdin)]
found = {"charset-normalizer": normalizer, "chardet": chardet, "faust-cchardet": cchardet}
print(json.dumps({name: [guess(content) for content in contents] for name, guess in found.items()}))
"""


class Sample(NamedTuple):
    language: str
    encoding: str
    kind: str
    lines: int
    text: str

    @property
    def content(self) -> bytes:
        return self.text.encode(self.encoding)


def samples() -> Iterable[Sample]:
    chance = random.Random(SEED)
    for language, encoding in PAIRS:
        sentences = [each for each in _sentences(language) if _fits(each, encoding)]
        for lines in LINES:
            for _ in range(REPEATED):
                chosen = chance.sample(sentences, min(lines, len(sentences)))
                for kind in FORMATS:
                    yield Sample(language, encoding, kind, lines, _shaped(chosen, kind))


def _sentences(language: str) -> list[str]:
    found = set()
    for path in Path(django.__file__).parent.glob(f"**/locale/{language}/LC_MESSAGES/django.mo"):
        with path.open("rb") as content:
            catalog = gettext.GNUTranslations(content)._catalog  # type: ignore[attr-defined]  # noqa: SLF001  it has no other list
        for text in filter(None, catalog.values()):
            plain = " ".join(re.sub(r"%\(\w+\)s|%[sd]|<[^>]*>|&\w+;|\{\w*\}", "", text).split())
            if len(plain) >= 12 and not plain.isascii() and "Project-Id" not in plain:
                found.add(plain)
    return sorted(found)


def _fits(text: str, encoding: str) -> bool:
    try:
        return bool(text.encode(encoding))
    except UnicodeEncodeError:
        return False


def _shaped(lines: list[str], kind: str) -> str:
    if kind == "csv":
        return "id;name;date\n" + "".join(f'{i};"{line}";2024-05-0{i % 9}\n' for i, line in enumerate(lines))
    if kind == "html":
        paragraphs = "".join(f'<p class="text">{line}</p>\n' for line in lines)
        return f'<!DOCTYPE html><html><head><title>{lines[0]}</title></head><body><div class="main">{paragraphs}</div></body></html>'
    return "\n".join(lines) + "\n"


def _as(content: bytes, encoding: str | None) -> str:
    try:
        return content.decode(encoding or "cp1252", "replace")
    except LookupError:  # an encoding that Python does not know
        return ""


def _words(text: str) -> Counter[str]:
    return Counter(word for word in re.findall(r"\w+", text) if not word.isascii())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--others", metavar="PYTHON")
    python = parser.parse_args().others
    files = list(samples())
    texts = {
        "Windows-1252": [_as(each.content, "cp1252") for each in files],
        "this reader": [decode(each.content).text for each in files],
    }
    if python:
        contents = json.dumps([base64.b64encode(each.content).decode() for each in files])
        found = subprocess.run(
            [python, "-c", OTHERS], input=contents, text=True, capture_output=True, check=True
        )
        for name, guesses in json.loads(found.stdout).items():
            texts[name] = [_as(each.content, guess) for each, guess in zip(files, guesses, strict=True)]
    print("| text |", " | ".join(texts), "|")
    print("|---|" + "---|" * len(texts))
    shares = {name: _shares(files, read) for name, read in texts.items()}
    for row in shares["this reader"]:
        print(f"| {row} |", " | ".join(str(shares[name][row]) for name in texts), "|")


def _shares(files: list[Sample], read: list[str]) -> dict[str, str]:
    """Return percentages by encoding and language, and by the number of lines, each for all formats."""
    right: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for file, text in zip(files, read, strict=True):
        wanted = _words(file.text)
        for row in (f"{file.encoding} {file.language}", f"{file.lines} lines", "all"):
            found = right[row, file.kind]
            found[0] += (wanted & _words(text)).total()
            found[1] += wanted.total()
    totals = [*(f"{lines} lines" for lines in LINES), "all"]
    rows = dict.fromkeys([*(row for row, _ in right if row not in totals), *totals])
    return {
        row: " / ".join(f"{100 * right[row, kind][0] / right[row, kind][1]:.0f}" for kind in FORMATS)
        for row in rows
    }


if __name__ == "__main__":
    main()
