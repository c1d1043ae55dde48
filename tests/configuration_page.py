"""Writes the tables of docs/configuration.md from config/variables.py: `python -m tests.configuration_page` (make types).

tests/config/test_configuration_page.py fails if the page is not what the variables say.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tests.instance import ROOT

if TYPE_CHECKING:
    from config.environment import Variable

TARGET: Final = ROOT / "docs" / "configuration.md"


def sections() -> "Mapping[str, Sequence[Variable]]":
    from config import environment, variables  # noqa: F401  the second fills the sections of the first

    return environment.SECTIONS


def variable_names() -> set[str]:
    """Return the names of all variables that operators may set."""
    return {variable.name for variables in sections().values() for variable in variables}


def render() -> str:
    """Return the page: its introduction as it is, and a table for each section of the variables."""
    introduction, *_ = TARGET.read_text(encoding="utf-8").partition("\n## ")
    tables = (
        f"\n## {title}\n\n| variable | values | default | meaning |\n|---|---|---|---|\n"
        + "".join(map(_row, variables))
        for title, variables in sections().items()
    )
    return introduction + "".join(tables)


def _row(variable: "Variable") -> str:
    default = f" `{variable.default}`" if variable.default else ""
    return f"| `{variable.name}` | {variable.values} |{default} | {variable.meaning} |\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
