"""Questions that readiness probes, the admin and the sweeper ask of the broker all the time."""

import redis
from django.conf import settings

from chat.runs import task_queue


def test_questions_to_the_broker_share_one_connection() -> None:
    task_queue.ping_broker()
    with redis.Redis.from_url(settings.CELERY_BROKER_URL) as observer:
        before = observer.info("stats")["total_connections_received"]
        for _ in range(10):
            task_queue.ping_broker()
            task_queue.queue_length("llm")
        assert observer.info("stats")["total_connections_received"] == before


def test_the_length_of_a_queue_is_the_number_of_its_messages() -> None:
    assert task_queue.queue_length("nobody-reads-this") == 0
    before = task_queue.queue_length("llm")  # earlier tests leave messages
    for run_id in ("1", "2"):
        task_queue.enqueue(run_id, "llm")
    assert task_queue.queue_length("llm") == before + 2
