"""Comparison of extracted texts with the known words of ten files per kind.

`python -m bench.extraction [--others PYTHON]`. Each file holds one construct (a table, footnotes, an encoding). Files
are read in this process and without services, so that the times are those of reading, not of starting; only processor
time is measured. PYTHON: the interpreter of an environment outside the project with other libraries (bench/README.md),
which read the same files.
"""

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import sync_playwright

from bench import extraction_office as office
from bench import extraction_pages as pages
from bench.extraction_words import Quality, Words, compare
from bench.others import python_of_others, read_with_others
from ingest.reader import file_reader
from knowledge.files.file_types import detect_type
from tests.browser.launching import launch_chromium

CANDIDATES: Final = Path(__file__).with_name("extraction_candidates.py")


class File(NamedTuple):
    """A file with known words. words: in reading order."""

    kind: str
    construct: str
    words: list[str]
    path: Path


class Result(NamedTuple):
    reader: str
    file: File
    quality: Quality
    milliseconds: float


def make_files(folder: Path) -> list[File]:
    return [
        *_print(folder),
        *_make(folder, "docx", office.WORD, office.word),
        *_make(folder, "pptx", office.SLIDES, office.slides),
        *_make(folder, "xlsx", office.SHEETS, office.sheets),
        *_make(folder, "csv", pages.CSVS, lambda name, words: pages.encoded(*pages.CSVS[name], words)),
        *_make(folder, "html", pages.HTML, lambda name, words: pages.page(pages.HTML[name], words).encode()),
        *_make(folder, "epub", pages.HTML, lambda name, words: pages.book(pages.HTML[name], words)),
        *_make(folder, "eml", pages.MAILS, pages.mail),
        *_make(folder, "txt", pages.TEXTS, lambda name, words: pages.encoded(*pages.TEXTS[name], words)),
    ]


def _make(
    folder: Path, kind: str, constructs: Mapping[str, object], make: Callable[[str, Words], bytes]
) -> Iterator[File]:
    for number, construct in enumerate(constructs):
        words = Words(f"{kind} {construct}")
        path = folder / f"{number}.{kind}"
        path.write_bytes(make(construct, words))
        yield File(kind, construct, words.order, path)


def _print(folder: Path) -> list[File]:
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        tab = browser.new_page()

        def make(name: str, words: Words) -> bytes:
            tab.set_content(pages.page((pages.PRINTED | pages.PRINTED_FROM_RIGHT)[name], words))
            return tab.pdf(format="A4")

        files = list(_make(folder, "pdf", pages.PRINTED, make))
        files += _make(folder, "rtl.pdf", pages.PRINTED_FROM_RIGHT, make)
        browser.close()
    return files


def read_with_ours(files: list[File], folder: Path) -> Iterator[Result]:
    """Read the files with our readers; yield the results.
    The first file of each kind is read twice, since its reader's libraries are imported on first use.
    """
    kinds: set[str] = set()
    for file in files:
        if file.kind not in kinds:
            _read(file, folder)
        kinds.add(file.kind)
        text, milliseconds = _read(file, folder)
        yield Result("ours", file, compare(file.words, text), milliseconds)


def _read(file: File, folder: Path) -> tuple[str, float]:
    content = file.path.read_bytes()
    (folder / "content").write_bytes(content)
    (folder / "text").unlink(missing_ok=True)
    began = time.process_time()
    file_reader.read(detect_type(file.path.name, content).content_type, folder)
    milliseconds = (time.process_time() - began) * 1000
    text = folder / "text"
    return text.read_bytes().decode() if text.exists() else "", milliseconds


def read_by_others(python: str, files: list[File]) -> Iterator[Result]:
    by_name = {file.path.name: file for file in files}
    for one in read_with_others(python, CANDIDATES, files[0].path.parent):
        file = by_name[one.file]
        yield Result(one.reader, file, compare(file.words, one.text), one.milliseconds)


def report(results: Iterable[Result]) -> None:
    groups: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        groups[result.file.kind, result.reader].append(result)
    print("| kind | reader | words | found % | in order % | added % | ms per file | files with all words |")
    print("|---|---|---|---|---|---|---|---|")
    for (kind, reader), group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] != "ours")):
        words, found, in_order, added = (
            sum(column) for column in zip(*(each.quality for each in group), strict=True)
        )
        whole = sum(each.quality.found == each.quality.words for each in group)
        milliseconds = statistics.median(each.milliseconds for each in group)
        print(
            f"| {kind} | {reader} | {words:,} | {found / words:.1%} | {in_order / words:.1%} | {added / words:.1%}"
            f" | {milliseconds:.1f} | {whole} of {len(group)} |"
        )
    print()
    for (kind, reader), group in sorted(groups.items()):
        for result in group:
            words, found, in_order, added = result.quality
            if found < words or in_order < found or added > words / 20:
                print(
                    f"{kind} {reader}: {result.file.construct}: {words} words, {found} found, {in_order} in order, {added} added"
                )


def main() -> None:
    python = python_of_others(__doc__)
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as reads:
        files = make_files(Path(made))
        results = list(read_with_ours(files, Path(reads)))
        results += read_by_others(python, files) if python else ()
    report(results)


if __name__ == "__main__":
    main()
