"""UrlRefused: the error for a URL that was not read, with the reason."""


class UrlRefused(Exception):
    """A URL was not read. code: a stable code of chat/protocol/file_errors.py.
    location: where the redirect leads that was not followed.
    """

    def __init__(self, code: str, why: str = "", location: str = "") -> None:
        self.code = code
        self.location = location
        super().__init__(f"{code}: {why}" if why else code)
