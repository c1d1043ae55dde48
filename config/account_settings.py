"""The settings of e-mail, of links that set a password, of registration, of the login with a provider, of staff, of stored
secrets and of what users delete, a part of settings.py. EMAIL_HOST: empty if none is sent. OIDC_ISSUER: empty if there is no provider."""

import re

from config import environment as env

__all__ = [
    "ACCOUNT_ADAPTER",
    "ACCOUNT_EMAIL_NOTIFICATIONS",
    "ACCOUNT_EMAIL_VERIFICATION",
    "ACCOUNT_RATE_LIMITS",
    "DEFAULT_FROM_EMAIL",
    "EMAIL_HOST",
    "EMAIL_HOST_PASSWORD",
    "EMAIL_HOST_USER",
    "EMAIL_PORT",
    "EMAIL_TIMEOUT",
    "EMAIL_USE_SSL",
    "EMAIL_USE_TLS",
    "KEEP_DELETED_DAYS",
    "MFA_ADAPTER",
    "OIDC_ADMIN_GROUPS",
    "OIDC_CLIENT_ID",
    "OIDC_CLIENT_SECRET",
    "OIDC_GROUPS_CLAIM",
    "OIDC_ISSUER",
    "OIDC_NAME",
    "OIDC_SCOPES",
    "OIDC_STAFF_GROUPS",
    "PASSKEY_DOMAIN",
    "PASSWORD_LOGIN",
    "PASSWORD_RESET_TIMEOUT",
    "REGISTRATION",
    "SECRETS_KEYS",
    "SOCIALACCOUNT_ADAPTER",
    "SOCIALACCOUNT_EMAIL_VERIFICATION",
    "SOCIALACCOUNT_STORE_TOKENS",
    "STAFF_GROUPS",
    "TEMPORARY_CHAT_MINUTES",
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
# Encrypt the keys of model providers in the database (chat/infrastructure/encryption.py): the first encrypts, all decrypt.
SECRETS_KEYS = env.secret_keys("SECRETS_KEYS")
# Days for which deleted chats stay in the trash (chat/sessions/deletion.py); 0: there is none.
KEEP_DELETED_DAYS = env.whole_number("KEEP_DELETED_DAYS", 30, high=3_650)
# Minutes for which a temporary chat that no page shows is kept (chat/sweeper/temporary.py); 0: there are no temporary chats.
TEMPORARY_CHAT_MINUTES = env.whole_number("TEMPORARY_CHAT_MINUTES", 30, high=1_440)

# A provider of OpenID Connect, with which people log in (web/accounts/oidc/, decision 0139).
OIDC_ISSUER = env.url("OIDC_ISSUER", "", schemes=("https", "http")).rstrip("/")
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID")
# None: a public client, which PKCE alone protects.
OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_SECRET")
# As the button of the login calls it.
OIDC_NAME = env.text("OIDC_NAME", "OpenID Connect")
OIDC_SCOPES = env.names("OIDC_SCOPES", "profile,email")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
OIDC_STAFF_GROUPS = env.names("OIDC_STAFF_GROUPS")
OIDC_ADMIN_GROUPS = env.names("OIDC_ADMIN_GROUPS")
PASSWORD_LOGIN = env.switch("PASSWORD_LOGIN", default=True)
# For which domain passkeys are made, if several hosts are to share them (web/accounts/passkeys/); empty: for each host its own.
PASSKEY_DOMAIN = env.text("PASSKEY_DOMAIN").lower()
if PASSKEY_DOMAIN and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", PASSKEY_DOMAIN):
    env.fail("PASSKEY_DOMAIN", "is a domain, without scheme and port")
if OIDC_ISSUER.endswith("/openid-configuration") or "?" in OIDC_ISSUER or "#" in OIDC_ISSUER:
    env.fail("OIDC_ISSUER", "is the address before /.well-known/openid-configuration")
if len(OIDC_ISSUER) > 200:  # the column of allauth's table
    env.fail("OIDC_ISSUER", "is longer than 200 characters")
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    env.fail("OIDC_CLIENT_ID", "is required with OIDC_ISSUER")
if not OIDC_ISSUER:
    if not PASSWORD_LOGIN:
        env.fail("PASSWORD_LOGIN", "is needed without OIDC_ISSUER: nobody could log in")
    for _name, _value in (
        ("OIDC_CLIENT_ID", OIDC_CLIENT_ID),
        ("OIDC_CLIENT_SECRET", OIDC_CLIENT_SECRET),
        ("OIDC_STAFF_GROUPS", OIDC_STAFF_GROUPS),
        ("OIDC_ADMIN_GROUPS", OIDC_ADMIN_GROUPS),
    ):
        if _value:
            env.fail(_name, "has no effect without OIDC_ISSUER, which is required with it")

# django-allauth. Its own accounts, e-mails, limits and pages are not used (decision 0123).
ACCOUNT_ADAPTER = "web.accounts.oidc.adapters.Accounts"
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_RATE_LIMITS = False
MFA_ADAPTER = "web.accounts.second_factor.adapter.SecondFactors"
SOCIALACCOUNT_ADAPTER = "web.accounts.oidc.adapters.SocialAccounts"
SOCIALACCOUNT_STORE_TOKENS = False
