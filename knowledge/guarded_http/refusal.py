"""UrlRefused: a URL was not read, and why."""


class UrlRefused(Exception):
    """code: stable; one of chat/protocol/file_errors.py."""

    def __init__(self, code: str, why: str = "") -> None:
        self.code = code
        super().__init__(f"{code}: {why}" if why else code)
