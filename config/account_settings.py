"""The settings of e-mail, of links that set a password, of registration, of staff and of what users delete, a part of settings.py.
EMAIL_HOST: empty if none is sent."""

from config import environment as env

__all__ = [
    "DEFAULT_FROM_EMAIL",
    "EMAIL_HOST",
    "EMAIL_HOST_PASSWORD",
    "EMAIL_HOST_USER",
    "EMAIL_PORT",
    "EMAIL_TIMEOUT",
    "EMAIL_USE_SSL",
    "EMAIL_USE_TLS",
    "KEEP_DELETED_DAYS",
    "PASSWORD_RESET_TIMEOUT",
    "REGISTRATION",
    "STAFF_GROUPS",
]

EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.whole_number("EMAIL_PORT", 587, low=1, high=65_535)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_SSL = env.switch("EMAIL_USE_SSL")
EMAIL_USE_TLS = env.switch("EMAIL_USE_TLS", default=not EMAIL_USE_SSL)
if EMAIL_USE_SSL and EMAIL_USE_TLS:
    env.fail("EMAIL_USE_TLS", "is STARTTLS, and EMAIL_USE_SSL is TLS from the first byte: switch on only one")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL")
if EMAIL_HOST and not DEFAULT_FROM_EMAIL:
    env.fail("DEFAULT_FROM_EMAIL", "is required with EMAIL_HOST")
# Of each step of a delivery. The thread that sends e-mail waits that long for a server that is silent.
EMAIL_TIMEOUT = 20
# Seconds for which a link that sets a password is valid.
PASSWORD_RESET_TIMEOUT = env.whole_number("PASSWORD_RESET_TIMEOUT", 3_600, low=60, high=604_800)
# Who may make an account (web/accounts/registration.py).
REGISTRATION = env.one_of("REGISTRATION", ("closed", "invitation", "open"), "closed")
# Names of groups whose members are staff (web/accounts/staff_groups.py).
STAFF_GROUPS = env.names("STAFF_GROUPS")
# Days for which deleted chats stay in the trash (chat/sessions/deletion.py); 0: there is none.
KEEP_DELETED_DAYS = env.whole_number("KEEP_DELETED_DAYS", 30, high=3_650)
