"""Projects as clients see them, with their files."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from chat.models import ModelConfig
from chat.presenters.files import present_file
from chat.presenters.json_values import JSONObject, isoformat_utc
from knowledge.models import File, Project


def present_projects(projects: Sequence[Project]) -> list[JSONObject]:
    """files: in the order in which they were uploaded. One query for all of them, and one for the models."""
    models = list(ModelConfig.objects.offered())
    files: defaultdict[UUID | None, list[JSONObject]] = defaultdict(list)
    for file in File.objects.filter(project__in=projects).defer("text").order_by("created_at", "pk"):
        files[file.project_id].append(present_file(file, models))
    return [
        {
            "id": str(project.pk),
            "name": project.name,
            "instructions": project.instructions,
            "files": files[project.pk],
            "created_at": isoformat_utc(project.created_at),
            "updated_at": isoformat_utc(project.updated_at),
        }
        for project in projects
    ]


def present_project(project: Project) -> JSONObject:
    [presented] = present_projects([project])
    return presented
