"""Projects as clients see them, with their files."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Annotated, Final
from uuid import UUID

from django.db.models import Count

from chat.models import ModelConfig
from chat.models.model_config import tokens_for_model
from chat.presenters.files import FileAnswer, IndexingAnswer, describe_file
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, doc
from chat.transcript.tokens import PROJECT_SHARE
from knowledge.models import File, FileKind, FileStatus, Project
from knowledge.search.indexing import chunks_without_vector

# For the instructions; a rough estimate, because counting long ones takes a list of projects too long.
_CHARACTERS_PER_TOKEN: Final = 4


class ProjectAnswer(Answer):
    id: UUID
    name: str
    instructions: str
    files: list[FileAnswer]
    token_count: Annotated[int, doc("Of all texts that can be read.")]
    fits: Annotated[
        dict[str, bool],
        doc(
            "By model: whether its requests contain all these texts, in a chat without agent and tools. Otherwise it searches them, if it has tools. Each run decides again, by what else its request contains."
        ),
    ]
    indexing: IndexingAnswer
    created_at: Moment
    updated_at: Moment


def present_projects(projects: Sequence[Project]) -> list[JSONObject]:
    """Present projects, with their files in the order in which they were uploaded.
    One query for all projects reads files, one models, one passages without a vector.
    """
    models = list(ModelConfig.objects.offered())
    files: defaultdict[UUID | None, list[File]] = defaultdict(list)
    for file in File.objects.filter(project__in=projects).defer("text").order_by("created_at", "pk"):
        files[file.project_id].append(file)
    waiting = _vectors_waiting(projects)
    return [
        ProjectAnswer.from_row(
            project,
            files=[describe_file(file, models) for file in files[project.pk]],
            **_measured(project, files[project.pk], models),
            indexing=IndexingAnswer(
                chunks=sum(file.chunk_count for file in files[project.pk]),
                waiting=waiting.get(project.pk, 0),
            ),
        ).json()
        for project in projects
    ]


def present_project(project: Project) -> JSONObject:
    [presented] = present_projects([project])
    return presented


def _vectors_waiting(projects: Sequence[Project]) -> dict[UUID, int]:
    """Count by project the passages that are found by words alone until they have a vector."""
    without = chunks_without_vector(File.objects.filter(project__in=projects)).order_by()
    return dict(without.values_list("file__project").annotate(Count("pk")))


def _measured(project: Project, files: Iterable[File], models: Iterable[ModelConfig]) -> JSONObject:
    """Return `token_count` and `fits`, as a run decides it (llm_worker/loading/project.py).
    Prompts and tools are left out: only the run knows them.
    """
    readable = [file for file in files if file.status == FileStatus.READY and file.kind != FileKind.IMAGE]
    beside = len(project.instructions) // _CHARACTERS_PER_TOKEN
    fits = {
        model.name: sum(tokens_for_model(file, model) for file in readable)
        < PROJECT_SHARE * (model.request_tokens - beside)
        for model in models
    }
    return {"token_count": sum(file.token_count for file in readable), "fits": fits}
