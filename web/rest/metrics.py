"""GET /metrics for Prometheus: the metrics of the whole deployment, the same from every web process. Outside /api/."""

from collections.abc import Iterator
from typing import get_args

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from chat.metrics import tally
from chat.metrics.gauges import gauges
from web.rest.errors import error_response
from web.rest.operators import is_operator


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Needs METRICS_TOKEN or a login of staff, except in development. With the token it works without Redis and Postgres."""
    if not is_operator(request):
        return error_response(request, 403)
    return HttpResponse(generate_latest(DeploymentCollector()), content_type=CONTENT_TYPE_LATEST)


class DeploymentCollector(Collector):
    """Collects from Postgres what is stored and from Redis what all processes have counted."""

    def collect(self) -> Iterator[Metric]:
        stored = gauges()
        yield _up_gauge("postgres", is_up=bool(stored))
        yield from stored
        try:
            counted = [*tally.sums(), *_process_gauges()]
        except RedisError:
            counted = []
        yield _up_gauge("redis", is_up=bool(counted))
        yield from counted


def _up_gauge(name: str, *, is_up: bool) -> Metric:
    return GaugeMetricFamily(f"turnwire_{name}_up", f"Whether web reaches {name}.", value=float(is_up))


def _process_gauges() -> list[Metric]:
    present = tally.present()
    processes = GaugeMetricFamily("turnwire_processes", "Processes that live, by role.", labels=["role"])
    for role in get_args(tally.Role):
        processes.add_metric([role], sum(one == role for one, _ in present))
    sockets = sum(number for _, number in present)
    return [processes, GaugeMetricFamily("turnwire_sockets", "Open websockets.", value=sockets)]
