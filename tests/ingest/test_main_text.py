"""What is kept of a page of the web."""

from pathlib import Path

import pytest

from ingest.reader import main_text
from tests.ingest import main_text_pages
from tests.ingest.construct_words import split

pytestmark = [pytest.mark.pure, pytest.mark.slow]


def kept(folder: Path, name: str, body: str = "<body>") -> tuple[str, float, float]:
    """The text, and the shares of the page's words and of those around them."""
    source, words, around = main_text_pages.make(name)
    source = source.replace("<body>", body)
    (folder / "content").write_text(source, encoding="utf-8")
    (folder / "address").write_text("https://example.org/page", encoding="utf-8")
    main_text.read_main_text(folder / "content", folder / "text")
    text = (folder / "text").read_text(encoding="utf-8")
    found = set(split(text))
    shares = [len(found & set(known)) / max(1, len(set(known))) for known in (words, around)]
    return text, shares[0], shares[1]


@pytest.mark.parametrize("name", [name for name in main_text_pages.PAGES if name != "scripts alone"])
def test_the_main_text_is_read_and_hardly_anything_around_it(tmp_path: Path, name: str) -> None:
    _, found, added = kept(tmp_path, name)
    assert found > 0.96
    assert added < 0.15


def test_a_page_that_only_scripts_show_says_so(tmp_path: Path) -> None:
    text, *_ = kept(tmp_path, "scripts alone")
    assert text.startswith(main_text.NO_MAIN_TEXT)


def test_a_page_that_is_named_after_what_stands_beside_its_text_is_read(tmp_path: Path) -> None:
    text, found, _ = kept(tmp_path, "article", '<body class="has-sidebar"><div class="with-comments">')
    assert not text.startswith(main_text.NO_MAIN_TEXT)
    assert found > 0.96


def test_a_page_without_the_tags_that_html_lets_authors_leave_out_is_read(tmp_path: Path) -> None:
    menu = "".join(f'<li><a href="/{n}">Menu {n}</a>' for n in range(9))
    text = "".join(f"<p>Paragraph {n} tells how the moon pulls the sea.</p>" for n in range(9))
    (tmp_path / "content").write_text(
        f"<title>Tides</title><nav><ul>{menu}</ul></nav><article>{text}</article>"
    )
    (tmp_path / "address").write_text("https://example.org/page")
    outcome = main_text.read_main_text(tmp_path / "content", tmp_path / "text")
    assert outcome.title == "Tides"
    read = (tmp_path / "text").read_text()
    assert "Paragraph 8" in read
    assert "Menu" not in read


@pytest.mark.parametrize(
    ("head", "line", "published"),
    [
        ('<meta property="article:published_time" content="2024-03-05T10:00:00Z">', "", "2024-03-05"),
        ("", '<time datetime="2024-03-05">5 March</time>', "2024-03-05"),
        ("", '<p class="date">Published 5 March 2024</p>', "2024-03-05"),
        ("", "<footer>Copyright 2019 Somebody</footer>", ""),
        ("", "<p>Sea level rose from 1995 to 2023.</p>", ""),
    ],
)
def test_a_page_was_published_when_it_says_so_and_no_number_in_its_text_is_a_date(
    tmp_path: Path, head: str, line: str, published: str
) -> None:
    text = "".join(f"<p>In {year} the moon pulled the sea.</p>" for year in range(1990, 2000))
    page = f"<html><head>{head}</head><body><article>{line}{text}</article></body></html>"
    (tmp_path / "content").write_text(page)
    (tmp_path / "address").write_text("https://example.org/page")
    assert main_text.read_main_text(tmp_path / "content", tmp_path / "text").published == published
