"""UrlRefused: the error for a URL that was not read, with the reason."""


class UrlRefused(Exception):
    """A URL was not read. code: a stable code of chat/protocol/file_errors.py."""

    def __init__(self, code: str, why: str = "") -> None:
        self.code = code
        super().__init__(f"{code}: {why}" if why else code)
