"""The ASGI application: HTTP is Django's, websockets are web/socket's."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# First: it calls django.setup(), which the imports below require.
http = get_asgi_application()

from django.conf import settings  # noqa: E402

from chat.infrastructure.gc_tuning import tune_gc  # noqa: E402
from chat.metrics.tally import keep_pushing  # noqa: E402
from config.preview_host import PreviewHost  # noqa: E402
from config.trusted_proxies import TrustedProxies  # noqa: E402
from web.rest.request_bodies import RequestBodies  # noqa: E402
from web.socket.routing import websockets  # noqa: E402

keep_pushing("web")
application = TrustedProxies(
    PreviewHost(
        ProtocolTypeRouter({"http": RequestBodies(http), "websocket": websockets}),
        settings.PREVIEW_ORIGIN,
    ),
    settings.TRUSTED_PROXIES,
)
tune_gc()
