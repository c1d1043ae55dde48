"""Begins the first text after each round of tools as a paragraph, since readers join the texts around a round."""

from chat.transcript.passages import paragraph_break


class Paragraphs:
    """The texts of a loop as they are shown. are_parted: not in an agent tool, whose report is its last passage alone."""

    def __init__(self, *, are_parted: bool) -> None:
        self._are_parted = are_parted
        self._latest = ""  # the latest text that is not blank, and what was shown since
        self._before = ""  # the same when the passage was opened
        self._is_blank = True  # the passage has no text yet

    def open_passage(self) -> None:
        self._before, self._is_blank = self._latest if self._are_parted else "", True

    def begin(self, text: str) -> str:
        """Return the text as it is shown: at the beginning of a passage, with the line ends that are missing."""
        is_first = self._is_blank and self._before and text.strip()
        return paragraph_break(self._before, text) + text if is_first else text

    def begin_again(self, text: str) -> str:
        """Return the text that replaces all that the passage has shown."""
        self._is_blank = True
        text = self.begin(text)
        self.note(text)
        return text

    def note(self, text: str) -> None:
        """Note a text that was shown."""
        if text.strip():
            self._latest, self._is_blank = text, False
        elif self._latest:
            self._latest += text
