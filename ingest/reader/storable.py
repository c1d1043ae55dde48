"""Texts as Postgres stores them. Pure."""


def storable(text: str) -> str:
    """Without what Postgres does not store: NUL and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
