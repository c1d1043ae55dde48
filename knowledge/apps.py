from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"

    def ready(self) -> None:
        from knowledge import checks  # noqa: F401  registers them
        from knowledge.search import vector_extension  # noqa: F401  registers them
