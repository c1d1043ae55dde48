"""Random branches, as a session may hold them: questions and answers in turn, files, pictures, tools, empty answers."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from chat.transcript.entries import Block, Call, Document, Entry, Image, Round, TextFile

SENT_AT = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)

words = st.integers(1, 60).map(lambda count: " ".join(["word"] * count))
maybe = st.one_of(st.just(""), words)


def tokens_of(text: str, _stored: int = 0) -> int:
    return len(text.split())


def question(draw: st.DrawFn, number: int) -> Entry:
    files = tuple(
        TextFile(f"f{number}.{n}", f"{n}.txt", 9, Document(n, f"{n}", "Title", f"file of u{number} {text}"))
        for n, text in enumerate(draw(st.lists(words, max_size=2)))
    )
    images = (Image("i", "i.png", "data:picture", 320, 160),) * draw(st.integers(0, 1))
    kinds = draw(st.lists(st.sampled_from(["CA", "P", "D"]), unique=True, max_size=2))
    blocks = tuple(Block(kind, f"stored block {draw(words)}") for kind in kinds)
    text = f"says u{number} {draw(maybe)}"
    return Entry(f"u{number}", "user", text, SENT_AT, files=files, images=images, blocks=blocks)


def answer(draw: st.DrawFn, number: int) -> Entry:
    rounds = tuple(
        Round(
            tuple(
                Call(f"c{number}.{r}.{tab}", f"tool{tab}", {"q": draw(words)}, draw(st.sampled_from(["", "secret response"])))
                for tab in range(draw(st.integers(1, 2)))
            ),
            text_before=draw(maybe),
            reasoning="secret thoughts",
        )
        for r in range(draw(st.integers(0, 2)))
    )  # fmt: skip
    rest = draw(st.sampled_from(["", f"says a{number}"]))
    text = "".join(each.text_before for each in rounds) + (f"{rest} {draw(maybe)}" if rest else "")
    return Entry(f"a{number}", "assistant", text, SENT_AT, reasoning="secret thoughts", rounds=rounds)


@st.composite
def branches(draw: st.DrawFn, at_most: int = 12) -> list[Entry]:
    """Oldest first; ends with an answer, or with a question that has none yet."""
    turns = draw(st.integers(0, at_most))
    entries = [make(draw, number) for number in range(turns) for make in (question, answer)]
    return entries[: len(entries) - draw(st.integers(0, 1))] if entries else []
