"""Django settings of the stock application: only the pub/sub channel layer of channels_redis."""

import os

SECRET_KEY = "of-a-test"
USE_TZ = True
REDIS_URL = os.environ["STOCK_REDIS_URL"]
LLM_BASE_URL = os.environ["STOCK_LLM_BASE_URL"]
ACKS_LATE = os.environ.get("STOCK_ACKS_LATE") == "1"
VISIBILITY_TIMEOUT_S = int(os.environ.get("STOCK_VISIBILITY_TIMEOUT", "3600"))  # Celery's default
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            # Without its own limit, redis-py gives up a subscription that is silent for 5 s.
            "hosts": [{"address": os.environ["STOCK_LAYER_URL"], "socket_timeout": None}]
        },
    }
}
