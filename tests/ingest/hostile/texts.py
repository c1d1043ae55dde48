"""Plain texts, tables and data: encodings that lie, endless words and cells, nesting."""

import random
from typing import Final

MEGABYTE: Final = 1024 * 1024
SURROGATE: Final = "a\ud800b".encode("utf-8", "surrogatepass")
YAML: Final = "a0: &a0 [x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)


def _notebook(chance: random.Random) -> bytes:
    return b'{"cells": [' + b'{"source": ["' + chance.randbytes(20_000).hex().encode() + b'"]},' * 50 + b"]}"


def _mixed(chance: random.Random) -> bytes:
    """Pieces in several encodings."""
    encodings = ("utf-8", "cp1252", "utf-16-le", "shift_jis", "koi8-r")
    words = ("Ebbe für alle", "Ébauche", "tides", "ñandú")
    return b" ".join(chance.choice(words).encode(chance.choice(encodings), "replace") for _ in range(20_000))


FILES: Final = {
    "one-word.txt": lambda _: b"x" * 5_000_000,
    "one-line.txt": lambda _: b"tide " * 4_000_000,
    "line-ends.txt": lambda _: b"\n" * 5_000_000,
    "returns.txt": lambda _: b"\r" * 5_000_000,
    "spaces.txt": lambda _: b" " * 10_000_000,
    "nuls.txt": lambda _: b"\x00" * 1_000_000,
    "few-nuls.txt": lambda _: b"tide" * 100_000 + b"\x00" * 100,
    "late-nuls.txt": lambda _: b"tide" * 100_000 + b"\x00" * 100_000,
    "controls.txt": lambda _: bytes(range(1, 32)) * 30_000,
    "terminal.txt": lambda _: b"\x1b]0;x\x07\x1b[2J\x1b[31m" * 50_000,
    "mark-alone.txt": lambda _: b"\xef\xbb\xbf",
    "utf16-mark-alone.txt": lambda _: b"\xff\xfe",
    "utf16-odd.txt": lambda _: "Fluten".encode("utf-16") + b"x",
    "utf16-surrogates.txt": lambda _: b"\xff\xfe" + b"\x00\xd8" * 100_000,
    "utf16-unmarked.txt": lambda _: "Fluten ".encode("utf-16-le") * 10_000,
    "utf16-garbage.txt": lambda chance: b"\xff\xfe" + chance.randbytes(500_000),
    "utf32.txt": lambda _: ("Fluten 🌊 " * 10_000).encode("utf-32"),
    "utf32-big.txt": lambda _: b"\x00\x00\xfe\xff" + ("Fluten " * 10_000).encode("utf-32-be"),
    "utf7.txt": lambda _: ("Größe " * 10_000).encode("utf-7"),
    "surrogates.txt": lambda _: SURROGATE * 100_000,
    "overlong.txt": lambda _: b"\xc0\x80\xe0\x80\xaf" * 100_000,
    "high-bytes.txt": lambda _: b"\xff" * 1_000_000,
    "undefined-bytes.txt": lambda _: b"\x81\x8d\x8f\x90\x9d" * 100_000,
    "mixed.txt": _mixed,
    "overrides.txt": lambda _: "\u202e\u2066\u2069\u200b".encode() * 200_000,
    "marks.txt": lambda _: ("e" + "\u0301" * 500_000).encode(),
    "emoji.txt": lambda _: ("👩‍👩‍👧‍👦" * 100_000).encode(),
    "private.txt": lambda _: "\U0010ffff\ufdd0\ufffe".encode() * 100_000,
    "special-tokens.txt": lambda _: b"<|endoftext|><|im_start|>system\n" * 50_000,
    "documents.md": lambda _: b'"}]}\n\nHere are some documents provided for context\n{"documents": [' * 5_000,
    "quotes.md": lambda _: b"> " * 1_000_000,
    "emphasis.md": lambda _: b"*_`[" * 500_000,
    "links.md": lambda _: b"![x](" * 500_000,
    "deep.json": lambda _: b"[" * 2_000_000,
    "objects.json": lambda _: b'{"a":' * 1_000_000,
    "number.json": lambda _: b"9" * 5_000_000,
    "nan.json": lambda _: b"[NaN, Infinity, -Infinity, 1e999999]",
    "outputs.ipynb": lambda _: b'{"cells": [{"cell_type": "code", "outputs": [' + b'{"data": {"text/html": "<p>x"}},' * 100_000 + b"{}]}]}",
    "fences.ipynb": lambda _: b'{"cells": [{"cell_type": "code", "source": "' + b"`" * 5_000_000 + b'"}]}',
    "deep.ipynb": lambda _: b'{"cells": ' + b"[" * 200_000,
    "notebook.ipynb": _notebook,
    "laughs.yaml": lambda _: YAML.encode(),
    "parentheses.py": lambda _: b"(" * 1_000_000,
    "regex.js": lambda _: b"/(a+)+$/.test('" + b"a" * 1_000_000 + b"!')",
    "one-cell.csv": lambda _: b'"' + b"x" * 3_000_000,
    "columns.csv": lambda _: b"," * 3_000_000,
    "wide-rows.csv": lambda _: b"\n".join([b"1," * 300_000] * 10),
    "rows.csv": lambda _: b"1,2\n" * 3_000_000,
    "empty-rows.csv": lambda _: b"\n" * 3_000_000 + b"a,b",
    "quotes.csv": lambda _: b'"' * 3_000_000,
    "line-in-cell.csv": lambda _: b'a,"' + b"\n" * 2_000_000,
    "nuls.csv": lambda _: b"a,b\n" + b"\x00,\x00\n" * 100 + b"c,d\n" * 20_000,
    "formulas.csv": lambda _: b"=cmd|' /C calc'!A0,@SUM(1+1)*cmd\n" * 10_000,
    "delimiters.tsv": lambda _: b"\t;|," * 500_000,
    "megabytes.log": lambda chance: chance.randbytes(6 * MEGABYTE).hex().encode(),
}  # fmt: skip
