"""Estimates the tokens of an image, and renders the placeholder for models without vision or pictures without content. Pure."""

from math import ceil

from chat.transcript.entries import Image

LONGEST_SIDE_PX = 2048
PATCH_PX = 16
TOKENS_AROUND = 32


def image_tokens(image: Image) -> int:
    """Estimated from the size after scaling the long side down to LONGEST_SIDE_PX."""
    scale = min(1.0, LONGEST_SIDE_PX / max(image.width_px, image.height_px, 1))
    patches = ceil(image.width_px * scale / PATCH_PX) * ceil(image.height_px * scale / PATCH_PX)
    return patches + TOKENS_AROUND


def image_placeholder(image: Image) -> str:
    """Always one line: whitespace in the file name is collapsed."""
    reason = "this model cannot see images" if image.url else "its content cannot be read"
    return f"[Image left out, {reason}: {' '.join(image.name.split())}]"
