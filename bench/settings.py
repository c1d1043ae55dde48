"""The product's settings for the processes that are measured: one user has the sockets of all clients."""

from config.settings import *  # noqa: F403

MAX_SOCKETS_PER_USER = 0
