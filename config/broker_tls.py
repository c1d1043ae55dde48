"""TLS to Redis and to the broker of Celery.

Every connection verifies the server's certificate and name, unless its URL says otherwise. redis-py does so by itself.
kombu does not: with a plain `rediss://` it accepts any certificate, and with `amqps://` any name.
"""

import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

# Values of `ssl_cert_reqs`; kombu also takes the names of Python's `ssl`, which Celery's documentation uses.
_REQUIREMENTS: Final = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
# Name in the query of a URL, for Redis and RabbitMQ alike -> name in py-amqp.
_OPTIONS: Final = {"ssl_ca_certs": "ca_certs", "ssl_certfile": "certfile", "ssl_keyfile": "keyfile"}


def with_plain_requirement(url: str) -> str:
    """Return the URL of a Redis with `ssl_cert_reqs` as redis-py writes it, not as Celery documents it.
    Both read the URL.
    """
    parts, query = urlsplit(url), _query(url)
    if parts.scheme != "rediss" or "ssl_cert_reqs" not in query:
        return url
    return urlunsplit(parts._replace(query=urlencode(query | {"ssl_cert_reqs": _requirement(query)})))


def wrong_option(url: str) -> str:
    """Return what is wrong with the URL, for a message of one line; empty if nothing is."""
    is_known = _requirement(_query(url)) in _REQUIREMENTS
    return "" if is_known else f"ssl_cert_reqs must be one of {', '.join(_REQUIREMENTS)}"


def broker_options(url: str) -> tuple[str, dict[str, Any]]:
    """Return the URL for Celery's broker_url, and its broker_use_ssl, which is empty without TLS.

    kombu reads the options of a `rediss://` from its URL; those of an `amqps://` it would pass to py-amqp under names
    that py-amqp does not know.
    """
    parts, query = urlsplit(url), _query(url)
    required = _requirement(query)
    if parts.scheme == "rediss":
        return url, {"ssl_cert_reqs": _REQUIREMENTS[required]}
    if parts.scheme != "amqps":
        return url, {}
    options: dict[str, Any] = {ours: query.pop(name) for name, ours in _OPTIONS.items() if name in query}
    options["cert_reqs"] = _REQUIREMENTS[required]
    if required != "none" and query.get("ssl_check_hostname", "").lower() != "false":
        options["server_hostname"] = parts.hostname
    left = {name: value for name, value in query.items() if not name.startswith("ssl_")}
    return urlunsplit(parts._replace(query=urlencode(left))), options


def _requirement(query: Mapping[str, str]) -> str:
    return query.get("ssl_cert_reqs", "required").lower().removeprefix("cert_")


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
