"""Reads pictures: their size, and the picture itself encoded anew, without what cameras and programs write beside it."""

from pathlib import Path
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError

from ingest.reader.outcome import MAX_PICTURE_BYTES, Outcome, Unreadable

MAX_PIXELS: Final = 50_000_000
MAX_SIDE_PX: Final = 20_000
# Of the formats that are read, those that model servers accept; others become PNG.
_KEPT: Final = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_READ: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")
_QUALITY: Final = 90


def read_picture(path: Path, target: Path) -> Outcome:
    """Write the picture to `target`. Of several frames, the first."""
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(path, formats=_READ) as opened:
            _check_size(opened.width, opened.height)
            file_format = opened.format if opened.format in _KEPT else "PNG"
            picture = ImageOps.exif_transpose(opened)
            profile = opened.info.get("icc_profile")
            _save(picture, target, str(file_format), profile)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise Unreadable("image_limits") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise Unreadable("image_corrupt") from None
    if target.stat().st_size > MAX_PICTURE_BYTES:
        raise Unreadable("image_limits")
    return Outcome(
        kind="image",
        content_type=_KEPT[str(file_format)],
        has_picture=True,
        width_px=picture.width,
        height_px=picture.height,
    )


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE_PX:
        raise Unreadable("image_limits")


def _save(picture: Image.Image, target: Path, file_format: str, profile: bytes | None) -> None:
    """Nothing of the original's metadata but the colour profile, without which colours change."""
    has_alpha = "A" in picture.getbands() or "transparency" in picture.info
    if picture.mode == "CMYK" or (file_format == "JPEG" and picture.mode not in ("RGB", "L")):
        picture, profile = picture.convert("RGB"), None
    elif picture.mode not in ("RGB", "RGBA", "L", "LA", "1", "I;16"):
        picture = picture.convert("RGBA" if has_alpha else "RGB")
    picture = picture.copy()
    picture.info = {}
    options = {"quality": _QUALITY} if file_format in ("JPEG", "WEBP") else {}
    picture.save(target, file_format, icc_profile=profile, **options)
