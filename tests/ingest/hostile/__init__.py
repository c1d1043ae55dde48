"""Files made to break their reader, by a seeded generator: at least 200, in families of one module each."""

import random
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tests.ingest.hostile import (
    archives,
    damaged,
    disguises,
    mails,
    markup,
    office,
    open_documents,
    pdfs,
    pictures,
    texts,
)

SEED: Final = 20261123

Make = Callable[[random.Random], bytes]
FAMILIES: Final[Mapping[str, Mapping[str, Make]]] = {
    "damaged": damaged.FILES, "archives": archives.FILES, "markup": markup.FILES, "office": office.FILES,
    "pdfs": pdfs.FILES, "pictures": pictures.FILES, "mails": mails.FILES, "texts": texts.FILES,
    "disguises": disguises.FILES, "open-documents": open_documents.FILES,
}  # fmt: skip


class HostileFile(NamedTuple):
    """name: of the upload, unique within its family."""

    family: str
    name: str
    make: Make
    seed: int

    @property
    def label(self) -> str:
        shown = self.name.encode("unicode_escape").decode()
        return f"{self.family}/{shown if len(shown) <= 40 else f'{shown[:37]}...'}"

    def content(self) -> bytes:
        """The same for the same seed, whichever other files are made."""
        return self.make(random.Random(f"{self.seed} {self.family} {self.name}"))


def hostile_files(seed: int = SEED) -> list[HostileFile]:
    return [
        HostileFile(family, name, make, seed)
        for family, files in FAMILIES.items()
        for name, make in files.items()
    ]


def sample(size: int, seed: int = SEED) -> tuple[list[HostileFile], list[HostileFile]]:
    """(chosen, left out): as many of each family as its share."""
    chance = random.Random(seed)
    files = hostile_files(seed)
    chosen: set[str] = set()
    for family in FAMILIES:
        own = [one.label for one in files if one.family == family]
        chosen |= set(chance.sample(own, max(1, round(size * len(own) / len(files)))))
    return [one for one in files if one.label in chosen], [one for one in files if one.label not in chosen]
