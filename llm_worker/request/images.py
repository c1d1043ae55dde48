"""Renders what models read of pictures beside these: placeholders of those that they do not see, names of pages. Pure."""

from collections.abc import Sequence

from chat.transcript.entries import Image


def image_placeholder(image: Image) -> str:
    """Always one line: whitespace in the file name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"


def image_lines(images: Sequence[Image], shown: Sequence[Image]) -> list[str]:
    """images: of a message, of which those in `shown` are sent.

    Pages that are not sent have no placeholder: the text of their document says that it is incomplete.
    """
    lines = [image_placeholder(image) for image in images if image not in shown and not image.page]
    if pages := [" ".join(image.name.split()) for image in shown if image.page]:
        lines.append(f"[Pages shown as pictures, in this order: {'; '.join(pages)}]")
    return lines
