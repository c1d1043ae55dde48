from django.apps import AppConfig


class McpConfig(AppConfig):
    name = "features.mcp"

    def ready(self) -> None:
        from chat.runs import turn_parts
        from features.mcp import checks  # noqa: F401  registers the check of rows
        from features.mcp.turn_part import McpPart

        turn_parts.register(McpPart())
