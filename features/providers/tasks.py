"""The Celery task of providers, which the llm workers have."""

from celery import shared_task

from features.providers import check
from features.providers.providers import CHECK_PROVIDER
from llm_worker.attempt import runtime


@shared_task(name=CHECK_PROVIDER)
def check_provider(*, provider_id: str, check_id: str, **_later: object) -> None:
    """List the models of a provider and try one. Does nothing if another check was requested since.

    Does nothing while the worker drains: staff request the check again.
    """
    runtime.current().run_beside(
        lambda services: check.check_provider(provider_id, check_id, services.database, services.models)
    )
