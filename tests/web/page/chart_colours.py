"""How different two colours look, also to who sees no red or no green: CIEDE2000 of colours as they are seen."""

import math
from collections.abc import Sequence
from typing import Final

Triple = tuple[float, float, float]

# G. M. Machado et al., "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
SIGHTS: Final[dict[str, Sequence[Triple]]] = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
}  # fmt: skip
_XYZ: Final = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.072175),
    (0.0193339, 0.119192, 0.9503041),
)
_WHITE: Final = (0.95047, 1.0, 1.08883)


def difference(one: str, other: str, sight: str) -> float:
    """The CIEDE2000 difference of two colours (#rrggbb) to somebody of this sight; from about 10 on, it is seen at a glance."""
    return ciede2000(_lab(one, sight), _lab(other, sight))


def ciede2000(one: Triple, other: Triple) -> float:
    """The difference of two colours in CIELAB (G. Sharma et al., 2005)."""
    middle = (math.hypot(*one[1:]) + math.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * _chroma_weight(middle)
    (light1, chroma1, hue1), (light2, chroma2, hue2) = _polar(one, stretch), _polar(other, stretch)
    turn = (hue2 - hue1 + 180) % 360 - 180 if chroma1 * chroma2 else 0.0
    hue = hue1 + turn / 2 if chroma1 * chroma2 else hue1 + hue2
    light, chroma = (light1 + light2) / 2 - 50, (chroma1 + chroma2) / 2
    by_light = (light2 - light1) / (1 + 0.015 * light**2 / math.sqrt(20 + light**2))
    by_chroma = (chroma2 - chroma1) / (1 + 0.045 * chroma)
    by_hue = 2 * math.sqrt(chroma1 * chroma2) * _sin(turn / 2) / (1 + 0.015 * chroma * _hue_weight(hue))
    rotation = -_sin(60 * math.exp(-((((hue % 360) - 275) / 25) ** 2))) * 2 * _chroma_weight(chroma)
    return math.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue)


def _polar(colour: Triple, stretch: float) -> Triple:
    light, a, b = colour
    return light, math.hypot(a * stretch, b), math.degrees(math.atan2(b, a * stretch)) % 360


def _chroma_weight(chroma: float) -> float:
    return math.sqrt(chroma**7 / (chroma**7 + 25**7))


def _hue_weight(hue: float) -> float:
    return (
        1 - 0.17 * _cos(hue - 30) + 0.24 * _cos(2 * hue) + 0.32 * _cos(3 * hue + 6) - 0.2 * _cos(4 * hue - 63)
    )


def _sin(degrees: float) -> float:
    return math.sin(math.radians(degrees))


def _cos(degrees: float) -> float:
    return math.cos(math.radians(degrees))


def _lab(colour: str, sight: str) -> Triple:
    seen = [min(1.0, max(0.0, value)) for value in _times(SIGHTS[sight], _linear(colour))]
    x, y, z = (_root(value / white) for value, white in zip(_times(_XYZ, seen), _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _linear(colour: str) -> list[float]:
    values = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]


def _times(matrix: Sequence[Triple], vector: Sequence[float]) -> list[float]:
    return [sum(factor * value for factor, value in zip(row, vector, strict=True)) for row in matrix]


def _root(value: float) -> float:
    return value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116
