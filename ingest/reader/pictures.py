"""Reads pictures: their size, a new encoding without the metadata of cameras and programs, and a thumbnail."""

from pathlib import Path
from typing import Final

from PIL import Image, ImageOps, UnidentifiedImageError

from ingest.reader.reading_outcome import MAX_PICTURE_BYTES, Outcome, Unreadable
from knowledge.texts.reading import Reading

MAX_PIXELS: Final = 50_000_000
MAX_SIDE_PX: Final = 20_000
# The formats that model servers accept; the others that are read become PNG.
_KEPT: Final = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_READ: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF")
_QUALITY: Final = 90
# The longer side of a thumbnail; smaller pictures keep their size.
THUMBNAIL_PX: Final = 256
_THUMBNAIL_QUALITY: Final = 80
# Larger profiles, such as those of printers, would outweigh the thumbnail.
_MAX_THUMBNAIL_PROFILE: Final = 8 * 1024


def read_picture(path: Path, target: Path, thumbnail: Path) -> Outcome:
    """Write the picture to `target`, and a small copy to `thumbnail`. Only the first of several frames is used;
    those of a TIFF are pages of a scan or a fax, and the others count as unread.
    """
    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    try:
        with Image.open(path, formats=_READ) as opened:
            _check_size(opened.width, opened.height)
            file_format = opened.format if opened.format in _KEPT else "PNG"
            pages = getattr(opened, "n_frames", 1) if opened.format == "TIFF" else 1
            picture = ImageOps.exif_transpose(opened)
            profile = opened.info.get("icc_profile")
            _save(picture, target, str(file_format), profile)
            _save_thumbnail(picture, thumbnail, profile)
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
        reading=Reading(unread_pages=pages - 1),
    )


def _check_size(width: int, height: int) -> None:
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE_PX:
        raise Unreadable("image_limits")


def _save(picture: Image.Image, target: Path, file_format: str, profile: bytes | None) -> None:
    """Save the picture without the original metadata, except the colour profile, without which colours would change."""
    if picture.mode == "CMYK" or (file_format == "JPEG" and picture.mode not in ("RGB", "L")):
        picture, profile = picture.convert("RGB"), None
    elif picture.mode not in ("RGB", "RGBA", "L", "LA", "1", "I;16"):
        picture = picture.convert(_full_mode(picture))
    picture = picture.copy()
    picture.info = {}
    options = {"quality": _QUALITY} if file_format in ("JPEG", "WEBP") else {}
    picture.save(target, file_format, icc_profile=profile, **options)


def _save_thumbnail(picture: Image.Image, target: Path, profile: bytes | None) -> None:
    longer = max(picture.size)
    if longer > THUMBNAIL_PX:
        width, height = (max(1, round(side * THUMBNAIL_PX / longer)) for side in picture.size)
        # A palette has no colours between two of its own.
        full = picture.convert(_full_mode(picture)) if picture.mode in ("1", "P", "PA") else picture
        picture = full.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=2.0)
    if picture.mode == "I;16":
        picture = picture.point(lambda level: level * (1 / 256)).convert("L")
    if picture.mode == "CMYK" or len(profile or b"") > _MAX_THUMBNAIL_PROFILE:
        profile = None
    picture = picture.convert(_full_mode(picture))
    picture.info = {}
    picture.save(target, "WEBP", quality=_THUMBNAIL_QUALITY, icc_profile=profile)


def _full_mode(picture: Image.Image) -> str:
    return "RGBA" if _has_alpha(picture) else "RGB"


def _has_alpha(picture: Image.Image) -> bool:
    return "A" in picture.getbands() or "transparency" in picture.info
