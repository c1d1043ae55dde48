"""The embeddings of the scripted upstream: texts in two languages that say the same are near each other."""

import math
import re
from typing import Any, Final
from zlib import crc32

from aiohttp import web

# Words of one meaning, in one line.
_MEANINGS: Final = (
    "tide tides gezeiten ebbe flut",
    "moon mond lunar",
    "seal seals robbe robben",
    "bread brot bake backen loaf",
    "harbour hafen port",
)
_OF_WORD: Final = {word: number for number, line in enumerate(_MEANINGS) for word in line.split()}
OTHER_DIMENSIONS: Final = 11
DIMENSIONS: Final = len(_MEANINGS) + OTHER_DIMENSIONS
# A text with this word is refused with 400.
REFUSED: Final = "unembeddable"


def embed(text: str) -> list[float]:
    """Of length 1. Other words count little."""
    vector = [0.01] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        if word in _OF_WORD:
            vector[_OF_WORD[word]] += 1
        else:
            vector[len(_MEANINGS) + crc32(word.encode()) % OTHER_DIMENSIONS] += 0.05
    length = math.hypot(*vector)
    return [number / length for number in vector]


class Embeddings:
    """POST /v1/embeddings. texts: all that were embedded, in order. models: that each request named. statuses: with which the next requests fail."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.batches: list[int] = []
        self.models: list[str] = []
        self.statuses: list[int] = []
        self.dimensions = DIMENSIONS

    async def answer(self, request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        texts = body["input"]
        if self.statuses:
            return web.json_response({"error": {}}, status=self.statuses.pop(0))
        if any(REFUSED in text for text in texts):
            return web.json_response({"error": {"message": "too long"}}, status=400)
        self.texts += texts
        self.batches.append(len(texts))
        self.models.append(body["model"])
        data = [{"index": at, "embedding": embed(text)[: self.dimensions]} for at, text in enumerate(texts)]
        # In any order: clients go by the index.
        return web.json_response({"object": "list", "data": data[::-1], "model": body["model"]})
