"""Date formats of the admin. Django finds this module by its name (FORMAT_MODULE_PATH)."""

DATETIME_FORMAT = "Y-m-d H:i:s"
DATE_FORMAT = "Y-m-d"
