"""Comparison of the main text read from twenty-one pages with its known words.

`python -m bench.main_text [--others PYTHON]`; PYTHON is the interpreter of an environment outside the project with
other extractors (bench/README.md), which read the same pages.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bench import main_text_pages
from bench.extraction_words import split
from bench.others import python_of_others, read_with_others
from ingest.reader import main_text

CANDIDATES: Final = Path(__file__).with_name("main_text_candidates.py")


class Page(NamedTuple):
    """A page with known words. words: those of its main text. around: those of menus, advertisements and footers."""

    name: str
    path: Path
    words: list[str]
    around: list[str]


class Result(NamedTuple):
    reader: str
    page: Page
    text: str
    milliseconds: float

    @property
    def found(self) -> float:
        """The share of the main text's words that were found."""
        return len(set(split(self.text)) & set(self.page.words)) / max(1, len(set(self.page.words)))

    @property
    def added(self) -> float:
        """The share of the surrounding words that were found."""
        return len(set(split(self.text)) & set(self.page.around)) / len(set(self.page.around))


def make_pages(folder: Path) -> Iterator[Page]:
    for number, name in enumerate(main_text_pages.PAGES):
        source, words, around = main_text_pages.make(name)
        path = folder / f"{number}.html"
        path.write_text(source, encoding="utf-8")
        yield Page(name, path, words, around)


def read_with_ours(pages: list[Page], folder: Path) -> Iterator[Result]:
    (folder / "address").write_text("https://example.org/page", encoding="utf-8")
    for page in (pages[0], *pages):  # the first page is read twice, since libraries are imported on first use
        (folder / "content").write_bytes(page.path.read_bytes())
        began = time.process_time()
        main_text.read_main_text(folder / "content", folder / "text")
        milliseconds = (time.process_time() - began) * 1000
        yield Result("ours", page, (folder / "text").read_text(encoding="utf-8"), milliseconds)


def read_by_others(python: str, pages: list[Page]) -> Iterator[Result]:
    by_name = {page.path.name: page for page in pages}
    for one in read_with_others(python, CANDIDATES, pages[0].path.parent):
        yield Result(one.reader, by_name[one.file], one.text, one.milliseconds)


def report(results: list[Result]) -> None:
    readers = list(dict.fromkeys(result.reader for result in results))
    names = list(dict.fromkeys(result.page.name for result in results))
    found = {(result.reader, result.page.name): result for result in results}
    print("| page | " + " | ".join(f"{reader}: found, around, ms" for reader in readers) + " |")
    print("|---" * (len(readers) + 1) + "|")
    for name in names:
        row = [found[reader, name] for reader in readers]
        print(
            f"| {name} | "
            + " | ".join(f"{one.found:.0%}, {one.added:.0%}, {one.milliseconds:.0f}" for one in row)
            + " |"
        )
    for reader in readers:
        own = [found[reader, name] for name in names if found[reader, name].page.words]
        means = [
            sum(values) / len(own) for values in ((one.found for one in own), (one.added for one in own))
        ]
        print(
            f"{reader}: {means[0]:.1%} of the words found, {means[1]:.1%} of those around, mean of {len(own)} pages"
        )


def main() -> None:
    python = python_of_others(__doc__)
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as reads:
        pages = list(make_pages(Path(made)))
        results = list(read_with_ours(pages, Path(reads)))
        report(results + (list(read_by_others(python, pages)) if python else []))


if __name__ == "__main__":
    main()
