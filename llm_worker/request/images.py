"""Renders what models read of pictures beside these: placeholders of those that they do not see, names of pages. Pure."""

from collections.abc import Sequence

from chat.transcript.entries import Image


def image_placeholder(image: Image) -> str:
    """Always one line: whitespace in the file name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"


def describe_images(returned: int, kept: int, *, sees_images: bool) -> str:
    """What the response of a call says of images that it returned and the model is not shown; empty if it is shown all."""
    if not sees_images:
        return "(This model cannot see images.)"
    return f"({returned - kept} of the {returned} images cannot be shown.)" if kept < returned else ""


def tool_image_lines(shown: Sequence[Image], left_out: Sequence[Image]) -> list[str]:
    """Of the message behind the responses of a round, which has the images that its calls returned."""
    lines = [f"[Images that the tools returned, in this order: {_names(shown)}]"] if shown else []
    return [*lines, *([f"[Images left out, no room: {_names(left_out)}]"] if left_out else [])]


def _names(images: Sequence[Image]) -> str:
    return "; ".join(" ".join(image.name.split()) for image in images)


def image_lines(images: Sequence[Image], shown: Sequence[Image]) -> list[str]:
    """images: of a message, of which those in `shown` are sent.

    Pages that are not sent have no placeholder: the text of their document says that it is incomplete.
    """
    lines = [image_placeholder(image) for image in images if image not in shown and not image.page]
    if pages := [image for image in shown if image.page]:
        lines.append(f"[Pages shown as pictures, in this order: {_names(pages)}]")
    return lines
