"""Renders the placeholder of a picture for models without vision, and of one without content. Pure."""

from chat.transcript.entries import Image


def image_placeholder(image: Image) -> str:
    """Always one line: whitespace in the file name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"
