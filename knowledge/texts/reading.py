"""Reading: what a reader counted in a file beside its text. Pure.

A new number is a member here, which a reader sets. It is stored, sent with files and documents, and shown in the admin.
"""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import asdict


class Reading(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The numbers as they are stored. Members that a later version has stored are ignored."""

    unread_pages: Annotated[
        int, Meta(description="Pages that are pictures without text; all but the first of a TIFF.")
    ] = 0
    shown_pages: Annotated[
        int, Meta(description="Of these pages: the first ones, which models that see are shown as pictures.")
    ] = 0
    table_rows: Annotated[
        int,
        Meta(
            description="Of tables that the text shows in part: their rows without the names of the columns."
        ),
    ] = 0
    shown_rows: Annotated[int, Meta(description="Of these rows: the first ones, which the text has.")] = 0

    def counted(self) -> dict[str, int]:
        """Return the members that are not 0, and what is shown of these, also if that is 0."""
        wholes = {"shown_pages": self.unread_pages, "shown_rows": self.table_rows}
        return {name: value for name, value in asdict(self).items() if value or wholes.get(name)}
