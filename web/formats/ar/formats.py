"""Date formats of the admin. Django finds this module by its name (FORMAT_MODULE_PATH)."""

from web.formats.en.formats import DATE_FORMAT, DATETIME_FORMAT

__all__ = ["DATETIME_FORMAT", "DATE_FORMAT"]
