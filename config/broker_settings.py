"""Where Redis and the broker of Celery are, a part of settings.py."""

from config import environment as env
from config.broker_tls import with_ca_file, with_plain_requirement, wrong_option

__all__ = ["CELERY_BROKER_URL", "LLM_QUEUES", "REDIS_URL"]

_CA_FILE = env.readable_file("TLS_CA_FILE")


def _completed(name: str, url: str) -> str:
    if wrong := wrong_option(url):
        env.fail(name, wrong)
    return with_plain_requirement(with_ca_file(url, _CA_FILE))


REDIS_URL = _completed(
    "REDIS_URL", env.url("REDIS_URL", "redis://localhost:6379/0", schemes=("redis", "rediss", "unix"))
)
CELERY_BROKER_URL = _completed(
    "CELERY_BROKER_URL",
    env.url("CELERY_BROKER_URL", REDIS_URL, schemes=("redis", "rediss", "amqp", "amqps", "unix")),
)
# That an llm worker takes from (Procfile).
LLM_QUEUES = env.names("LLM_QUEUES", "llm")
