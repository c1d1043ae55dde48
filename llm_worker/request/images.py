"""Renders what models read about pictures: placeholders of those that they do not see, and names of pages. Pure."""

from collections.abc import Sequence

from chat.transcript.entries import Image


def image_placeholder(image: Image) -> str:
    """Return the placeholder of an image that is not sent, on one line: whitespace in its name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"


def describe_images(returned: int, kept: int, *, sees_images: bool) -> str:
    """Return the note of a call's response on returned images that the model is not shown; empty if it is shown all."""
    if not sees_images:
        return "(This model cannot see images.)"
    return f"({returned - kept} of the {returned} images cannot be shown.)" if kept < returned else ""


def tool_image_lines(shown: Sequence[Image], left_out: Sequence[Image]) -> list[str]:
    """Return the lines of the message behind the responses of a round, which has the images that its calls returned."""
    lines = [f"[Images that the tools returned, in this order: {_names(shown)}]"] if shown else []
    return [*lines, *([f"[Images left out, no room: {_names(left_out)}]"] if left_out else [])]


def _names(images: Sequence[Image]) -> str:
    return "; ".join(" ".join(image.name.split()) for image in images)


def image_lines(images: Sequence[Image], shown: Sequence[Image]) -> list[str]:
    """Return the lines about the images of a message; those in `shown` are sent.

    Pages that are not sent have no placeholder: the text of their document says that it is incomplete.
    """
    lines = [image_placeholder(image) for image in images if image not in shown and not image.page]
    if pages := [image for image in shown if image.page]:
        lines.append(f"[Pages shown as pictures, in this order: {_names(pages)}]")
    return lines
