"""Which lines of a dump's script are left out for a Postgres that does not know them."""

from collections import Counter

import pytest

from config.database_dump import Target, fitting

pytestmark = pytest.mark.pure

OLD = Target(frozenset({"lock_timeout"}), has_vectors=False)
NEW = Target(frozenset({"lock_timeout", "transaction_timeout"}), has_vectors=True)
INDEX = "CREATE INDEX chunk_vector_of_1 ON public.knowledge_chunkvector USING hnsw ((vector) public.halfvec_cosine_ops);"
EXTENSION = "CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;"


def left_out_of(script: str, target: Target) -> tuple[str, dict[str, int]]:
    """What is left of the script, and what is left out."""
    left_out = Counter[str]()
    kept = b"".join(fitting(script.encode().splitlines(keepends=True), target, left_out))
    return kept.decode(), dict(left_out)


@pytest.mark.parametrize(
    ("line", "target", "unknown"),
    [
        ("SET lock_timeout = 0;", OLD, ""),
        ("SET transaction_timeout = 0;", NEW, ""),
        ("SET transaction_timeout = 0;", OLD, "SET transaction_timeout"),
        ("ALTER TABLE ONLY public.a ALTER COLUMN b SET (pg_attver=7);", NEW, "column option pg_attver"),
        ('ALTER TABLE ONLY public.a ALTER COLUMN "B c" SET (n_distinct=7);', OLD, ""),
        ("ALTER TABLE ONLY public.a ALTER COLUMN b SET NOT NULL;", OLD, ""),
        ("ALTER TABLE ONLY public.a ALTER COLUMN b SET DEFAULT (f(7));", OLD, ""),
        (EXTENSION, NEW, ""),
        (EXTENSION, OLD, EXTENSION),
        (INDEX, NEW, ""),
        (INDEX, OLD, INDEX),
        ("CREATE INDEX a ON public.b USING btree (c);", OLD, ""),
    ],
)
def test_a_line_is_left_out_if_the_target_does_not_know_it(line: str, target: Target, unknown: str) -> None:
    expected = ("", {unknown: 1}) if unknown else (f"{line}\n", {})
    assert left_out_of(f"{line}\n", target) == expected


def test_rows_that_look_like_statements_are_kept() -> None:
    rows = "\n".join(
        ["COPY public.a (text) FROM stdin;", "SET transaction_timeout = 0;", INDEX, "\\\\.", "\\.", ""]
    )
    assert left_out_of(rows, OLD) == (rows, {})
    assert left_out_of(f"{rows}SET transaction_timeout = 0;\n", OLD) == (rows, {"SET transaction_timeout": 1})
