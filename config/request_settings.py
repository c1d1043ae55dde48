"""Settings of requests: how long clients may take, and how many connections they have. A part of settings.py."""

from config import environment as env

__all__ = [
    "MAX_CONNECTIONS_PER_ADDRESS",
    "REQUEST_BODY_TIMEOUT_S",
    "REQUEST_HEADER_TIMEOUT_S",
    "RESPONSE_TIMEOUT_S",
]

# config/http_protocol.py and web/rest/request_bodies.py.
REQUEST_HEADER_TIMEOUT_S = env.whole_number("REQUEST_HEADER_TIMEOUT", 20, low=1, high=3_600)
REQUEST_BODY_TIMEOUT_S = env.whole_number("REQUEST_BODY_TIMEOUT", 60, low=1, high=3_600)
RESPONSE_TIMEOUT_S = env.whole_number("RESPONSE_TIMEOUT", 60, low=1, high=3_600)
MAX_CONNECTIONS_PER_ADDRESS = env.whole_number("MAX_CONNECTIONS_PER_ADDRESS", 500)
