"""The pictures of a session's project, and the names of its files that are still being read. Reads the file storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chat.loaders.attachments import OtherFile
from chat.models import ModelConfig
from chat.transcript.entries import Image


@dataclass(frozen=True)
class OtherProjectFiles:
    """Files besides the texts. shown: pictures that the model sees.  hidden: names of the other pictures, and `why`.

    unread: names of files that are still being read.
    """

    shown: Sequence[OtherFile] = ()
    hidden: Sequence[str] = ()
    why: str = ""
    unread: Sequence[str] = ()

    @property
    def tokens(self) -> int:
        return sum(picture.tokens for picture in self.shown)

    @property
    def note(self) -> str:
        return self._note([picture.name for picture in self.shown])

    def read(self) -> tuple[str, tuple[Image, ...]]:
        """Read the pictures. Returns the note, which names unreadable pictures, and the others with their contents."""
        found = [(picture.name, picture.file.as_image()) for picture in self.shown]
        missing = [name for name, image in found if not image.url]
        note = self._note([name for name, image in found if image.url])
        gone = _listed("Its content cannot be read", missing)
        return " ".join(filter(None, [note, gone])), tuple(image for _, image in found if image.url)

    def _note(self, shown: Sequence[str]) -> str:
        lines = (
            _listed("Pictures of this chat's project, in this order", shown),
            _listed(f"Pictures of this chat's project that are not shown, {self.why}", self.hidden),
            _listed("Files of this chat's project that are not readable yet", self.unread),
        )
        return " ".join(filter(None, lines))


def choose_pictures(files: Sequence[OtherFile], room: Fraction, model: ModelConfig) -> OtherProjectFiles:
    """Choose all pictures or none. room: their tokens must be fewer."""
    pictures = [file for file in files if file.is_picture]
    unread = [file.name for file in files if not file.is_picture]
    names = [picture.name for picture in pictures]
    if not model.supports_vision:
        return OtherProjectFiles(hidden=names, why="as this model cannot see images", unread=unread)
    if sum(picture.tokens for picture in pictures) < room:
        return OtherProjectFiles(pictures, unread=unread)
    return OtherProjectFiles(hidden=names, why="as they are too large for this model", unread=unread)


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(names)}." if names else ""
