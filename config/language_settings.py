"""Settings of languages: those that the page, its e-mails and the admin are translated into (`web/locale/`)."""

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("zh-hans", "简体中文"),
]
# One year, for the language chosen on the page's settings dialog.
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SAMESITE = "Lax"
