"""Which references between static files are found, and how they are renamed."""

import pytest

from web.page.static_references import references, with_references

pytestmark = pytest.mark.pure

RENAMED = {
    "a/b.js": "a/b.0123456789ab.js",
    "a/c/d.js": "a/c/d.ba9876543210.js",
    "e.css": "e.000000000000.css",
    "f.woff2": "f.111111111111.woff2",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('import { b } from "./b.js";', 'import { b } from "./b.0123456789ab.js";'),
        ("import b from './b.js';", "import b from './b.0123456789ab.js';"),
        ('import * as api from "../a/b.js";', 'import * as api from "../a/b.0123456789ab.js";'),
        ('import {\n  b,\n  c,\n} from "./b.js";', 'import {\n  b,\n  c,\n} from "./b.0123456789ab.js";'),
        ('import "./c/d.js";', 'import "./c/d.ba9876543210.js";'),
        ('export { d } from "./c/d.js";', 'export { d } from "./c/d.ba9876543210.js";'),
        ('export * from "./b.js";', 'export * from "./b.0123456789ab.js";'),
        ('f(await import("./b.js")).g();', 'f(await import("./b.0123456789ab.js")).g();'),
        ('() => import("./b.js").then(g)', '() => import("./b.0123456789ab.js").then(g)'),
    ],
)
def test_imports_of_modules_are_renamed(before: str, after: str) -> None:
    assert with_references("a/x.js", before, RENAMED.get) == after
    assert len(list(references("a/x.js", before, RENAMED))) == 1


@pytest.mark.parametrize(
    "text",
    [
        '/** @import {B} from "./b.js" */',
        '/** @param {import("./b.js").B} b */',
        '/** @returns {Promise<import("./b.js").B>} */',
        'import { marked } from "marked";',
        'import("temml")',
        'import { x } from "./missing.js";',
        'const text = "from ./b.js";',
    ],
)
def test_types_in_comments_and_what_is_no_static_file_are_left(text: str) -> None:
    assert with_references("a/x.js", text, RENAMED.get) == text
    assert list(references("a/x.js", text, RENAMED)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("src: url(../f.woff2)", "src: url(../f.111111111111.woff2)"),
        ('src: url("../f.woff2") format("woff2")', 'src: url("../f.111111111111.woff2") format("woff2")'),
        ("src: url('../f.woff2?#iefix')", "src: url('../f.111111111111.woff2?#iefix')"),
        ('@import url("../e.css");', '@import url("../e.000000000000.css");'),
        ("@import '../e.css';", "@import '../e.000000000000.css';"),
        ("fill: url(#shade)", "fill: url(#shade)"),
        ("src: url(data:image/png;base64,AAAA)", "src: url(data:image/png;base64,AAAA)"),
        ("src: url(/f.woff2)", "src: url(/f.woff2)"),
        ("src: url(missing.png)", "src: url(missing.png)"),
    ],
)
def test_addresses_in_style_sheets_are_renamed(before: str, after: str) -> None:
    assert with_references("a/x.css", before, RENAMED.get) == after


def test_other_files_have_no_references() -> None:
    text = 'import("./b.js")'
    assert with_references("a/x.svg", text, RENAMED.get) == text
    assert list(references("a/x.svg", text, RENAMED)) == []
