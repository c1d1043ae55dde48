"""Estimates the tokens of a picture from its size. Pure."""

from math import ceil
from typing import Final

LONGEST_SIDE_PX: Final = 2048
PATCH_PX: Final = 16
TOKENS_AROUND: Final = 32


def picture_tokens(width_px: int, height_px: int) -> int:
    """Estimate the tokens of a picture, scaled down to a long side of LONGEST_SIDE_PX."""
    scale = min(1.0, LONGEST_SIDE_PX / max(width_px, height_px, 1))
    patches = ceil(width_px * scale / PATCH_PX) * ceil(height_px * scale / PATCH_PX)
    return patches + TOKENS_AROUND
