"""Makes texts storable in Postgres. Pure."""


def storable(text: str) -> str:
    """Remove NUL from a text, and replace lone surrogates: Postgres stores neither."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
