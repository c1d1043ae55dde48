"""Which addresses and which environment variables a model's or a provider's row may name.

Staff may edit rows; they must not read secrets. A key is sent to the address beside it: whoever chooses both reads
the variable.
"""

from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from knowledge.fetching.public_addresses import is_metadata

# The key of LLM_BASE_URL, and the default of new rows.
DEFAULT_KEY_VARIABLE: Final = "LLM_API_KEY"


def is_for_rows(variable: str, prefix: str) -> bool:
    """Return whether rows may name this environment variable. Others may be read by Turnwire itself, or by any library or
    service beside it: `PGPASSWORD`, `AWS_SECRET_ACCESS_KEY`.
    """
    return variable.startswith(prefix) and variable not in settings.OWN_VARIABLES


def key_problem(variable: str) -> str:
    """Return why no row may name this environment variable, and what to do; empty if it may."""
    prefix = settings.LLM_KEY_PREFIX
    if variable in ("", DEFAULT_KEY_VARIABLE) or is_for_rows(variable, prefix):
        return ""
    return _(
        "The environment variable %(variable)s is not used: only LLM_API_KEY and names that begin with %(prefix)s are. Give the key to the workers in such a variable, and enter its name here."
    ) % {"variable": variable, "prefix": prefix}


def address_problem(base_url: str) -> str:
    """Return why no row may have this address, and what to do; empty if it may.
    Without ALLOWED_MODEL_SERVERS every address is allowed.
    """
    allowed = settings.ALLOWED_MODEL_SERVERS
    if not allowed or base_url in ("", settings.LLM_BASE_URL):
        return ""
    if any(_is_below(base_url, address) for address in allowed):
        return ""
    return _(
        "The address is not below one of ALLOWED_MODEL_SERVERS (%(allowed)s). Choose one of these, or add it to the variable."
    ) % {"allowed": ", ".join(allowed)}


def provider_address_problem(base_url: str) -> str:
    """Return why no provider may have this address, and what to do; empty if it may. Only workers resolve names."""
    try:
        parts = urlsplit(base_url)
        is_address = bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:
        is_address = False
    if not is_address or any(mark.isspace() or mark in "\\?#%" for mark in base_url):
        return _("Enter an address that starts with http:// or https://, such as https://api.example.com/v1.")
    if "@" in parts.netloc:
        return _("The address may contain no user name and no password. Enter the key in its own field.")
    if is_metadata(parts.hostname or ""):
        return _("This address belongs to no model server, but to the machine itself. Enter another one.")
    return address_problem(base_url)


def is_same_server(one: str, other: str) -> bool:
    """Return whether two addresses have the same scheme, host and port."""
    return _origin(one) == _origin(other)


def _origin(address: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(address)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def _is_below(address: str, allowed: str) -> bool:
    """Return whether `address` has the scheme, host and port of `allowed`, and its path or a path below."""
    try:
        one, other = urlsplit(address), urlsplit(allowed)
        is_same = (one.scheme, one.hostname, one.port) == (other.scheme, other.hostname, other.port)
    except ValueError:
        return False
    # Servers resolve dots in a path, also escaped ones, and clients take a backslash for a slash.
    is_plain = not any(mark in address for mark in ("@", "%", "\\", "/..", "?", "#"))
    return is_same and is_plain and f"{one.path}/".startswith(f"{other.path.rstrip('/')}/")
