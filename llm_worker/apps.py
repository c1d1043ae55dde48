from django.apps import AppConfig


class LlmWorkerConfig(AppConfig):
    name = "llm_worker"
