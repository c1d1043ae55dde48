"""Where Redis and the broker of Celery are, a part of settings.py."""

from config import environment as env
from config.broker_tls import with_ca_file, wrong_option

__all__ = ["CELERY_BROKER_URL", "REDIS_URL"]

_CA_FILE = env.readable_file("TLS_CA_FILE")
REDIS_URL = with_ca_file(
    env.url("REDIS_URL", "redis://localhost:6379/0", schemes=("redis", "rediss", "unix")), _CA_FILE
)
CELERY_BROKER_URL = with_ca_file(
    env.url("CELERY_BROKER_URL", REDIS_URL, schemes=("redis", "rediss", "amqp", "amqps", "unix")), _CA_FILE
)
for _name, _url in (("REDIS_URL", REDIS_URL), ("CELERY_BROKER_URL", CELERY_BROKER_URL)):
    if _wrong := wrong_option(_url):
        env.fail(_name, _wrong)
