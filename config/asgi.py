"""The ASGI application: HTTP is Django's, websockets are web/socket's, and OpenAI's."""

import os

import django
from channels.routing import ProtocolTypeRouter, URLRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# First: the imports below require it.
django.setup(set_prefix=False)

from django.conf import settings  # noqa: E402
from django.urls import path, re_path  # noqa: E402

from chat.infrastructure.gc_tuning import tune_gc  # noqa: E402
from chat.metrics.tally import keep_pushing  # noqa: E402
from config.asgi_middleware import HttpHandler, PreviewHost, TrustedProxies  # noqa: E402
from features.openai.socket import ResponsesConsumer  # noqa: E402
from web.rest.request_bodies import RequestBodies  # noqa: E402
from web.socket.consumer import SocketConsumer, reject_unknown_path  # noqa: E402

keep_pushing("web")
websockets = URLRouter(
    [
        path("ws/", SocketConsumer.as_asgi()),
        path("v1/responses", ResponsesConsumer.as_asgi()),
        re_path(r"", reject_unknown_path),  # type: ignore[arg-type]
    ]
)
application = TrustedProxies(
    PreviewHost(
        ProtocolTypeRouter({"http": RequestBodies(HttpHandler()), "websocket": websockets}),
        settings.PREVIEW_ORIGIN,
    ),
    settings.TRUSTED_PROXIES,
)
tune_gc()
