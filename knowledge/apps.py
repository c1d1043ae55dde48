from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "knowledge"

    def ready(self) -> None:
        from knowledge.files import blobs  # noqa: F401  registers them
        from knowledge.search import vector_extension  # noqa: F401  registers them
