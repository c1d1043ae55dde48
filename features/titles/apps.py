from django.apps import AppConfig


class TitlesConfig(AppConfig):
    name = "features.titles"

    def ready(self) -> None:
        from chat.runs import turn_parts
        from features.titles.turn_part import TitlePart

        turn_parts.register(TitlePart())
