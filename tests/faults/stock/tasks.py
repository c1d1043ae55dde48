"""The task of the stock application: streams the model's answer to the group and saves it at the end."""

import django
import redis
from asgiref.sync import async_to_sync
from celery import Celery
from channels.layers import get_channel_layer
from django.conf import settings
from openai import OpenAI

django.setup()

app = Celery("stock", broker=settings.REDIS_URL)
# Off is Celery's default; its documentation recommends these settings for idempotent tasks.
app.conf.update(
    task_acks_late=settings.ACKS_LATE,
    task_reject_on_worker_lost=settings.ACKS_LATE,
    worker_prefetch_multiplier=1,
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
    broker_transport_options={"visibility_timeout": settings.VISIBILITY_TIMEOUT_S},
)


def answers(run: str) -> str:
    """The Redis key of a run's saved answers: a list, so that duplicates are visible."""
    return f"stock:answers:{run}"


@app.task(name="stock.answer")
def answer(run: str, text: str) -> None:
    send = async_to_sync(get_channel_layer().group_send)
    client = OpenAI(base_url=settings.LLM_BASE_URL, api_key="none")
    stream = client.chat.completions.create(
        model="stock", messages=[{"role": "user", "content": text}], stream=True
    )
    text_so_far = ""
    for chunk in stream:
        word = chunk.choices[0].delta.content if chunk.choices else None
        if word:
            text_so_far += word
            send(run, {"type": "word", "text": word})
    redis.Redis.from_url(settings.REDIS_URL).rpush(answers(run), text_so_far)
    send(run, {"type": "end"})
