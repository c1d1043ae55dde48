"""Script for `bench.main_text --others` that reads a folder of pages with the installed extractors.

`python bench/main_text_candidates.py FOLDER` prints a line of JSON for each extractor and page. It imports nothing of
this project.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def readability(source: str) -> str:
    summary = import_module("readability").Document(source).summary(html_partial=True)
    return str(import_module("lxml.html").fromstring(summary).text_content())


def resiliparse(source: str) -> str:
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    return str(extract(source, main_content=True))


def newspaper(source: str) -> str:
    article = import_module("newspaper").Article("https://example.org/page")
    article.download(input_html=source)
    article.parse()
    return str(article.text)


EXTRACTORS: dict[str, Callable[[str], str]] = {
    "readability": readability,
    "resiliparse": resiliparse,
    "newspaper": newspaper,
}


def main() -> None:
    for name, extract in EXTRACTORS.items():
        for path in sorted(Path(sys.argv[1]).glob("*.html")):
            source = path.read_text(encoding="utf-8")
            began = time.process_time()
            try:
                text = extract(source)
            except ModuleNotFoundError:
                break
            except Exception as error:  # noqa: BLE001  what it fails at counts as empty
                sys.stderr.write(f"{name} {path.name}: {error}\n")
                text = ""
            print(json.dumps([name, path.name, (time.process_time() - began) * 1000, text]))


if __name__ == "__main__":
    main()
