"""Passages with known facts, and questions that ask for them in other words, in English and German; the same each time.

Each passage states one of eight facts about a place with a made-up name, between sentences that fit any place. Names
share their parts with many others, so that neither the name nor the words of a fact find a passage alone.
"""

import random
from collections.abc import Iterator
from typing import Final, NamedTuple

SEED: Final = 11
# One in so many facts has a question. The number is odd, so that languages alternate in the mixed project.
EVERY: Final = 9
# Words in English and German.
_FIRST: Final = (
    ("Alder", "Erlen"), ("Birch", "Birken"), ("Stone", "Stein"), ("Rose", "Rosen"), ("Silver", "Silber"), ("Crane", "Kranich"),
    ("Lime", "Linden"), ("Wolf", "Wolfs"), ("Monk", "Mönchs"), ("King", "Königs"), ("Salt", "Salz"), ("Winter", "Winter"),
    ("Raven", "Raben"), ("Garden", "Garten"), ("Castle", "Burg"),
)  # fmt: skip
# Nouns with a German article that is the same in the nominative and the accusative.
_KINDS: Final = (
    ("Bridge", "brücke", "die"), ("Shipyard", "werft", "die"), ("Mill", "mühle", "die"), ("Library", "bibliothek", "die"),
    ("School", "schule", "die"), ("Museum", "museum", "das"), ("Quarry", "grube", "die"), ("Hospital", "spital", "das"),
    ("Brewery", "brauerei", "die"), ("Theatre", "theater", "das"),
)  # fmt: skip
_PEOPLE: Final = tuple(
    f"{first} {last}"
    for first in ("Ada", "Bruno", "Clara", "David", "Elsa", "Felix", "Greta", "Hugo", "Ines", "Jakob")
    for last in ("Ahrens", "Brandt", "Castell", "Dorn", "Ebner", "Falk", "Gruber", "Hollis")
)
_DISASTERS: Final = (
    ("A flood", "Ein Hochwasser"), ("A fire", "Ein Brand"), ("A storm", "Ein Sturm"), ("An earthquake", "Ein Erdbeben"),
    ("A landslide", "Ein Erdrutsch"),
)  # fmt: skip
_MATERIALS: Final = (
    ("red brick", "rotem Backstein"), ("grey granite", "grauem Granit"), ("oak and clay", "Eiche und Lehm"),
    ("steel and glass", "Stahl und Glas"), ("white limestone", "weißem Kalkstein"), ("plain concrete", "schlichtem Beton"),
)  # fmt: skip
_DAYS: Final = (
    ("Mondays", "montags"), ("Tuesdays", "dienstags"), ("Wednesdays", "mittwochs"), ("Thursdays", "donnerstags"),
    ("Fridays", "freitags"),
)  # fmt: skip
_OWNERS: Final = (
    ("a trust of the citizens", "einer Stiftung der Bürger"), ("the county", "dem Landkreis"), ("the railway", "der Eisenbahn"),
    ("a family of merchants", "einer Kaufmannsfamilie"), ("the church", "der Kirche"), ("a cooperative", "einer Genossenschaft"),
)  # fmt: skip


class _Fact(NamedTuple):
    """A kind of fact: the sentence and the question, each in English and German.
    Placeholders: `name` is the place, `value` the fact.
    """

    says: tuple[str, str]
    asks: tuple[str, str]


_FACTS: Final = {
    "opened": _Fact(
        ("{Name} received its first visitors in {value}.", "Die ersten Besucher kamen {value}; so alt ist {name}."),
        ("Since when has {name} been in operation?", "Seit welchem Jahr ist {name} in Betrieb?"),
    ),
    "architect": _Fact(
        ("The plans of {name} were drawn by {value}.", "Die Pläne zeichnete {value}, so wie {name} heute aussieht."),
        ("Who designed {name}?", "Von wem stammt der Entwurf, nach dem {name} entstand?"),
    ),
    "cost": _Fact(
        ("{Name} took {value} crowns to build.", "Für den Bau wurden {value} Kronen ausgegeben, bis {name} fertig war."),
        ("What was the price of the construction of {name}?", "Wie teuer war es, bis {name} errichtet war?"),
    ),
    "staff": _Fact(
        ("{value} people earn their living at {name}.", "{value} Menschen verdienen hier ihr Geld: {name} braucht sie alle."),
        ("How many employees does {name} have?", "Wie viele Angestellte hat {name}?"),
    ),
    "disaster": _Fact(
        ("{value} left {name} in ruins one autumn.", "{value} hat in einem Herbst alles zerstört, was {name} war."),
        ("Which catastrophe hit {name}?", "Welche Katastrophe traf den Ort, an dem {name} steht?"),
    ),
    "owner": _Fact(
        ("{Name} belongs to {value}.", "Der Besitz liegt bei {value}; nur so blieb {name} erhalten."),
        ("Who is the proprietor of {name}?", "Wer ist Eigentümer, wenn es um {name} geht?"),
    ),
    "material": _Fact(
        ("The walls of {name} are of {value}.", "Aus {value} sind die Mauern, für die {name} bekannt ist."),
        ("What was {name} made from?", "Woraus ist {name} gebaut?"),
    ),
    "closed": _Fact(
        ("On {value}, the doors of {name} stay shut.", "Zu bleiben die Türen {value}; sonst ist {name} für alle da."),
        ("On which day of the week can nobody enter {name}?", "An welchem Wochentag ist {name} geschlossen?"),
    ),
}  # fmt: skip
_FILLERS: Final = (
    ("Many who live in the valley know {name} from their childhood.", "Viele im Tal kennen {name} seit ihrer Kindheit."),
    ("A path along the river leads to {name}.", "Ein Weg am Fluss entlang führt bis vor die Tür: {name} liegt am Wasser."),
    ("Painters have often chosen {name} for their pictures.", "Maler haben {name} oft für ihre Bilder gewählt."),
    ("In summer, concerts take place around {name}.", "Im Sommer gibt es Konzerte; {name} ist dann voller Leben."),
    ("The chronicle of the region mentions {name} several times.", "Die Chronik der Gegend erwähnt {name} mehrmals."),
    ("A small plate at the entrance tells of the past of {name}.", "Eine Tafel am Eingang erzählt, was {name} erlebt hat."),
)  # fmt: skip


class Corpus(NamedTuple):
    """Passages and questions. Each question has the index of the passage that answers it."""

    passages: list[str]
    questions: list[tuple[str, int]]


def corpora(places: int) -> dict[str, Corpus]:
    """Return the corpus of each language, with the passages in the same order. places: at most 150."""
    told = list(_facts(places))
    order = list(range(len(told)))
    random.Random(SEED).shuffle(order)
    return {
        language: Corpus(
            [told[at][number][0] for at in order],
            [(told[at][number][1], place) for place, at in enumerate(order) if place % EVERY == 0],
        )
        for number, language in enumerate(("en", "de"))
    }


def _facts(places: int) -> Iterator[list[tuple[str, str]]]:
    """Yield for each fact its passage and its question, in both languages."""
    rng = random.Random(SEED)
    names = [_names(first, kind) for first in _FIRST for kind in _KINDS]
    for place in rng.sample(names, places):
        for kind, fact in _FACTS.items():
            yield _told(place, fact, _value(kind, rng), rng)


def _told(
    place: tuple[str, str], fact: _Fact, value: tuple[str, str], rng: random.Random
) -> list[tuple[str, str]]:
    """Return the passage and the question of a fact in both languages.
    The passage has the same filler sentences in both.
    """
    fillers, at = rng.sample(_FILLERS, 3), rng.randrange(4)
    found = []
    for language in (0, 1):
        sentences = [filler[language] for filler in fillers]
        sentences.insert(at, fact.says[language])
        name = place[language]
        filled = {"name": name, "Name": name[0].upper() + name[1:], "value": value[language]}
        found.append((" ".join(sentences).format_map(filled), fact.asks[language].format_map(filled)))
    return found


def _names(first: tuple[str, str], kind: tuple[str, str, str]) -> tuple[str, str]:
    english, ending, article = kind
    return f"the {first[0]} {english}", f"{article} {first[1]}{ending}"


def _value(kind: str, rng: random.Random) -> tuple[str, str]:
    choices: dict[str, tuple[tuple[str, str], ...]] = {
        "disaster": _DISASTERS, "owner": _OWNERS, "material": _MATERIALS, "closed": _DAYS,
    }  # fmt: skip
    if kind in choices:
        return rng.choice(choices[kind])
    if kind == "architect":
        text = rng.choice(_PEOPLE)
    else:
        low, high = {"opened": (1700, 2000), "cost": (2_000, 90_000), "staff": (11, 400)}[kind]
        text = str(rng.randint(low, high))
    return text, text
