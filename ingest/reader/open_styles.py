"""The styles of an OpenDocument file that carry meaning: scripts, struck text, numbers of lists."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ingest.reader.counting import written
from ingest.reader.formatting import PLAIN, Form
from ingest.reader.office_xml import whole_number

NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TEXT: Final = NAMESPACE % "text"
_STYLE: Final = NAMESPACE % "style"
_MAX_START: Final = 10**6
_MAX_LEVEL: Final = 10
_MAX_AROUND: Final = 20  # characters before or behind a number
_FORMS: Final = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class _Level(NamedTuple):
    """A level of a list with numbers. display: of how many levels the numbers are counted."""

    start: int
    form: str
    prefix: str
    suffix: str
    display: int


class Styles:
    """The styles in the roots of content.xml and styles.xml."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._forms: dict[str, Form] = {}
        self._levels: dict[tuple[str, int], _Level] = {}
        for root in roots:
            for style in root.iter(f"{_STYLE}style"):
                form = _form(style.find(f"{_STYLE}text-properties"))
                if form != PLAIN:
                    self._forms[style.get(f"{_STYLE}name", "")] = form
            for style in root.iter(f"{TEXT}list-style"):
                name = style.get(f"{_STYLE}name", "")
                for level in style.iterchildren(f"{TEXT}list-level-style-number"):
                    place = whole_number(level.get(f"{TEXT}level"), _MAX_LEVEL)
                    self._levels[name, place] = _level(level)

    def form(self, element: Any, outer: Form) -> Form:
        """Return the form of a span in a text of the form `outer`."""
        own = self._forms.get(element.get(f"{TEXT}style-name", ""), PLAIN)
        return Form(own.script or outer.script, own.is_struck or outer.is_struck)

    def start(self, name: str, level: int) -> int:
        """Return the first number of a list. `level`: from 1."""
        definition = self._levels.get((name, level))
        return definition.start if definition else 1

    def label(self, name: str, numbers: tuple[int, ...]) -> str:
        """Return the label of an item of a list; empty if it shows no number. `numbers`: of its levels."""
        definition = self._levels.get((name, len(numbers)))
        if definition is None or not definition.form:
            return ""
        counted = list(enumerate(numbers, 1))[-max(definition.display, 1) :]
        texts = (written(number, self._form_of(name, level)) for level, number in counted)
        return f"{definition.prefix}{'.'.join(texts)}{definition.suffix}".strip()

    def _form_of(self, name: str, level: int) -> str:
        definition = self._levels.get((name, level))
        return _FORMS.get(definition.form, "decimal") if definition else "decimal"


def _form(properties: Any) -> Form:
    if properties is None:
        return PLAIN
    position = properties.get(f"{_STYLE}text-position", "").split()
    shift = position[0] if position else ""
    script = -1 if shift == "sub" or shift.startswith("-") else int(shift.strip("0%.") != "")
    # Either of the two is enough: style and type are `none` by default.
    lines = (properties.get(f"{_STYLE}text-line-through-{name}", "none") for name in ("style", "type"))
    return Form(script, any(line != "none" for line in lines))


def _level(element: Any) -> _Level:
    return _Level(
        start=whole_number(element.get(f"{TEXT}start-value", "1"), _MAX_START),
        form=element.get(f"{_STYLE}num-format", ""),
        prefix=element.get(f"{_STYLE}num-prefix", "")[:_MAX_AROUND],
        suffix=element.get(f"{_STYLE}num-suffix", "")[:_MAX_AROUND],
        display=whole_number(element.get(f"{TEXT}display-levels", "1"), _MAX_LEVEL),
    )
