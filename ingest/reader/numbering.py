"""Computes the automatic numbers of Word's lists and headings as Word does (numbering.xml, styles.xml)."""

import re
from typing import Any, Final, NamedTuple

from ingest.reader.counting import written
from ingest.reader.office_xml import W, whole_number

BULLET: Final = "-"
_LEVELS: Final = 9
_MAX_TEXT: Final = 100
_MAX_START: Final = 10**6
# Steps from style to base style and from list to style, which may form a cycle.
_MAX_STEPS: Final = 20
_PLACE: Final = re.compile(r"%([1-9])")


class _Level(NamedTuple):
    """A level of a list. text: %1 to %9 stand for the numbers.

    restart: the level restarts after a level with a lower index than this; None: it never restarts.
    """

    start: int
    form: str
    text: str
    restart: int | None
    is_legal: bool
    style: str


class _List(NamedTuple):
    """A list. kind: lists of one kind share their counters. starts: the first number of this list, by level."""

    kind: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class _Place(NamedTuple):
    """The list and the level of a paragraph. level: None if not specified."""

    number: str
    level: int | None


class Numbering:
    """Counts the paragraphs of a document, which are passed to `label` in order."""

    def __init__(self, numbering: Any, styles: Any) -> None:
        """Read the definitions from the roots of both parts; None: the document lacks the part."""
        self._styles = (
            {} if styles is None else {one.get(f"{W}styleId", ""): one for one in styles.iter(f"{W}style")}
        )
        self._by_style: dict[str, _Place | None] = {}
        self._kinds: dict[str, Any] = {}
        self._nums: dict[str, Any] = {}
        if numbering is not None:
            self._kinds = {one.get(f"{W}abstractNumId", ""): one for one in numbering.iter(f"{W}abstractNum")}
            self._nums = {one.get(f"{W}numId", ""): one for one in numbering.iter(f"{W}num")}
        self._lists: dict[str, _List] = {}
        self._counters: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, paragraph: Any) -> str:
        """Count the paragraph; return the number or bullet before its text, empty if it has none."""
        if not self._nums:
            return ""
        properties = paragraph.find(f"{W}pPr")
        place = None if properties is None else self._place(properties)
        if place is None or place.number not in self._nums:
            return ""
        numbered = self._list(place.number)
        level = place.level or 0
        if level not in numbered.levels:
            return ""
        self._count(place.number, numbered, level)
        return self._written(numbered, level)

    def _place(self, properties: Any) -> _Place | None:
        own, style = _place_of(properties), _value(properties, "pStyle")
        inherited = self._place_of_style(style) if style else None
        if own is None or not own.number:
            if inherited is None:
                return None
            own = _Place(inherited.number, inherited.level if own is None or own.level is None else own.level)
        return own if own.level is not None else own._replace(level=self._level_of_style(own.number, style))

    def _place_of_style(self, style: str) -> _Place | None:
        """Return the list and level of a style, or those of the nearest base style."""
        if style not in self._by_style:
            found, at = None, style
            for _ in range(_MAX_STEPS):
                element = self._styles.get(at)
                if element is None:
                    break
                properties = element.find(f"{W}pPr")
                found = None if properties is None else _place_of(properties)
                if found:
                    break
                at = _value(element, "basedOn")
            self._by_style[style] = found
        return self._by_style[style]

    def _level_of_style(self, number: str, style: str) -> int:
        if number not in self._nums or not style:
            return 0
        levels = self._list(number).levels
        return next((level for level, one in levels.items() if one.style == style), 0)

    def _list(self, number: str) -> _List:
        if number not in self._lists:
            num = self._nums[number]
            kind = self._kind_of(num)
            levels = _levels(self._kinds.get(kind, ()))
            starts: dict[int, int] = {}
            for override in num.iter(f"{W}lvlOverride"):
                level = whole_number(override.get(f"{W}ilvl"), _LEVELS - 1)
                levels |= _levels(override)
                if override.find(f"{W}startOverride") is not None:
                    starts[level] = whole_number(_value(override, "startOverride"), _MAX_START)
            self._lists[number] = _List(kind, levels, starts)
        return self._lists[number]

    def _kind_of(self, num: Any) -> str:
        """Return the id of the definition of the list's levels, which may be in another list that a style names."""
        kind = _value(num, "abstractNumId")
        for _ in range(_MAX_STEPS):
            element = self._kinds.get(kind)
            link = "" if element is None else _value(element, "numStyleLink")
            place = self._place_of_style(link) if link else None
            if place is None or place.number not in self._nums:
                break
            kind = _value(self._nums[place.number], "abstractNumId")
        return kind

    def _count(self, number: str, numbered: _List, level: int) -> None:
        counters = self._counters.setdefault(numbered.kind, {})
        if (number, level) not in self._begun:
            self._begun.add((number, level))
            if level in numbered.starts:
                counters[level] = numbered.starts[level] - 1
        counters[level] = counters.get(level, numbered.levels[level].start - 1) + 1
        for deeper in range(level + 1, _LEVELS):
            given = numbered.levels.get(deeper)
            if given and (given.restart is None or level >= given.restart):
                continue
            counters.pop(deeper, None)

    def _written(self, numbered: _List, level: int) -> str:
        own = numbered.levels[level]
        if own.form == "bullet":
            return BULLET
        counters = self._counters[numbered.kind]

        def number(found: re.Match[str]) -> str:
            place = int(found[1]) - 1
            at = numbered.levels.get(place)
            if at is None or place > level:
                return ""
            return written(counters.get(place, at.start), "decimal" if own.is_legal else at.form)

        return _PLACE.sub(number, own.text).strip()


def _place_of(properties: Any) -> _Place | None:
    found = properties.find(f"{W}numPr")
    if found is None:
        return None
    level = found.find(f"{W}ilvl")
    return _Place(
        _value(found, "numId"), None if level is None else whole_number(level.get(f"{W}val"), _LEVELS - 1)
    )


def _levels(parent: Any) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for one in parent:
        if one.tag != f"{W}lvl":
            continue
        level = whole_number(one.get(f"{W}ilvl"), _LEVELS - 1)
        restart = one.find(f"{W}lvlRestart")
        # In lvlRestart, 1 is the highest level. Without the element, a level restarts after each higher level.
        after = level if restart is None else whole_number(restart.get(f"{W}val"), _LEVELS)
        legal = one.find(f"{W}isLgl")
        levels[level] = _Level(
            start=whole_number(_value(one, "start") or "0", _MAX_START),
            form=_value(one, "numFmt") or "decimal",
            text=_value(one, "lvlText")[:_MAX_TEXT],
            restart=after or None,
            is_legal=legal is not None and legal.get(f"{W}val", "1") not in ("0", "false", "off"),
            style=_value(one, "pStyle"),
        )
    return levels


def _value(element: Any, name: str) -> str:
    child = element.find(f"{W}{name}")
    return "" if child is None else str(child.get(f"{W}val", ""))
