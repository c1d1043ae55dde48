"""The routes of projects: instructions and files that several of the user's sessions share."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Annotated, Any, Final
from uuid import UUID

from django.db.models import Count
from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import session_list
from chat.events.frames import ProjectDeleted
from chat.models import ModelConfig
from chat.models.model_config import tokens_for_model
from chat.presenters.files import FileAnswer, IndexingAnswer, describe_file, present_file
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, doc
from chat.protocol.body import Body, Visible, patched
from chat.protocol.errors import ApiError
from chat.protocol.wire import encode
from chat.runs import quotas
from chat.transcript.answer_settings import MAX_PROMPT_CHARACTERS
from chat.transcript.tokens import PROJECT_SHARE
from knowledge.models import File, FileKind, FileStatus, Project
from knowledge.search.indexing import chunks_without_vector
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.pagination import newest_rows_parameters, read_newest_rows

MAX_FILES: Final = 1000
# For the instructions; a rough estimate, because counting long ones takes a list of projects too long.
_CHARACTERS_PER_TOKEN: Final = 4


class ProjectBody(Body):
    """Omitted fields get their default when a project is created or replaced, and stay when it is updated."""

    name: Annotated[Visible, Meta(max_length=200)]
    instructions: Annotated[str, Meta(max_length=MAX_PROMPT_CHARACTERS)] = ""
    files: Annotated[list[UUID], Meta(max_length=MAX_FILES)] = []


class ProjectFileBody(Body):
    file: UUID


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


class ProjectsView(StrictAPIView):
    @documented("projects_list", answer=list[ProjectAnswer], parameters=newest_rows_parameters("projects"))
    def get(self, request: Request) -> Response:
        """List the user's projects, latest update first, at most 200. The next page is `before` the last project."""
        own = Project.objects.visible_to(current_user(request))
        rows, headers = read_newest_rows(request, own, "project", ("instructions",))
        return Response(present_projects(rows), headers=headers)

    @documented("projects_create", body=ProjectBody, answer=ProjectAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a project. `files`: ids of the user's files; a file of another project moves."""
        owner = current_user(request)
        fields = _resolve_fields(request, self.parse(ProjectBody).members())
        files = fields.pop("files")
        former = _projects_of(files)
        with quotas.PROJECTS.room_for_one(owner):
            project = Project.objects.create(owner=owner, **fields)
            project.change(files)
        _publish(project, former)
        return Response(present_projects([project])[0], status.HTTP_201_CREATED)


class ProjectView(StrictAPIView):
    @documented("projects_read", answer=ProjectAnswer)
    def get(self, request: Request, project: str) -> Response:
        """Read a project."""
        return Response(present_projects([_get_own_project(request, project)])[0])

    @documented("projects_replace", body=ProjectBody, answer=ProjectAnswer)
    def put(self, request: Request, project: str) -> Response:
        """Replace a project; omitted fields get their default."""
        return self._change(request, project, ProjectBody)

    @documented("projects_update", body=patched(ProjectBody), answer=ProjectAnswer)
    def patch(self, request: Request, project: str) -> Response:
        """Update a project; omitted fields stay as they are. `files` replaces all files of the project."""
        return self._change(request, project, patched(ProjectBody))

    @documented("projects_delete", statuses=(204,))
    def delete(self, request: Request, project: str) -> Response:
        """Delete a project. Its sessions and files continue without a project."""
        row = _get_own_project(request, project)
        deleted = ProjectDeleted(row.pk)
        row.delete()
        session_list.publish(row.owner_id, encode(deleted))
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, request: Request, project: str, body: type[Body]) -> Response:
        row = _get_own_project(request, project)
        fields = _resolve_fields(request, self.parse(body).members())
        former = _projects_of(fields.get("files") or ())
        if not row.change(**fields):
            raise ApiError("project_not_found")
        _publish(row, former)
        return Response(present_projects([row])[0])


class ProjectFilesView(StrictAPIView):
    @documented("project_files_create", body=ProjectFileBody, answer=FileAnswer, statuses=(201, 200))
    def post(self, request: Request, project: str) -> Response:
        """Add one of the user's files. 200 if it already belongs to the project; a file of another project moves."""
        row = _get_own_project(request, project)
        file = get_own_row(_own_files(request), str(self.parse(ProjectFileBody).file), "file", field="file")
        if file.project_id == row.pk:
            return Response(present_file(file))
        if row.files.count() >= MAX_FILES:
            raise ApiError("invalid_value", f"A project has at most {MAX_FILES} files.", field="file")
        former = _projects_of([file.pk])
        if not file.join(row):
            gone = not Project.objects.filter(pk=row.pk).exists()
            raise ApiError("project_not_found" if gone else "file_not_found")
        _publish(row, former)
        return Response(present_file(file), status.HTTP_201_CREATED)


class ProjectFileView(StrictAPIView):
    @documented("project_files_delete", statuses=(204,))
    def delete(self, request: Request, project: str, file: str) -> Response:
        """Remove a file from the project. The file itself stays."""
        row = _get_own_project(request, project)
        if not get_own_row(_own_files(request).filter(project=row), file, "file").leave(row):
            raise ApiError("file_not_found")
        session_list.publish_project(row)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _get_own_project(request: Request, pk: str) -> Project:
    return get_own_row(Project.objects.visible_to(current_user(request)), pk, "project")


def _projects_of(files: Sequence[UUID]) -> list[Project]:
    return [*Project.objects.filter(files__in=files).distinct()]


def _publish(project: Project, former: Sequence[Project]) -> None:
    """Publish a changed project, and those that its new files have left."""
    left = [other for other in former if other.pk != project.pk and other.change()]
    for changed in (project, *left):
        session_list.publish_project(changed)


def _own_files(request: Request) -> Any:
    return File.objects.visible_to(current_user(request)).defer("text")


def _resolve_fields(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields to store, checked against the user's own files. Raises ApiError."""
    if "files" in body:
        ids = set(body["files"])
        body["files"] = list(_own_files(request).filter(pk__in=ids).values_list("pk", flat=True))
        if len(body["files"]) != len(ids):
            raise ApiError("file_not_found", field="files")
    return body


def present_projects(projects: Sequence[Project]) -> list[JSONObject]:
    """Present projects, with their files in the order in which they were uploaded.
    One query for all projects reads files, one models, one passages without a vector.
    """
    models = list(ModelConfig.objects.offered())
    files: defaultdict[UUID | None, list[File]] = defaultdict(list)
    for file in File.objects.filter(project__in=projects).defer("text").order_by("created_at", "pk"):
        files[file.project_id].append(file)
    without_vector = chunks_without_vector(File.objects.filter(project__in=projects)).order_by()
    waiting = dict(without_vector.values_list("file__project").annotate(Count("pk")))
    return [_present(project, files[project.pk], models, waiting.get(project.pk, 0)) for project in projects]


def _present(
    project: Project, files: Sequence[File], models: Sequence[ModelConfig], waiting: int
) -> JSONObject:
    """Present a project. waiting: its passages that are found by words alone until they have a vector.

    `fits` is what a run decides (llm_worker/loading/project.py), without prompts and tools: only the run knows them.
    """
    readable = [file for file in files if file.status == FileStatus.READY and file.kind != FileKind.IMAGE]
    beside = len(project.instructions) // _CHARACTERS_PER_TOKEN
    return ProjectAnswer.from_row(
        project,
        files=[describe_file(file, models) for file in files],
        token_count=sum(file.token_count for file in readable),
        fits={
            model.name: sum(tokens_for_model(file, model) for file in readable)
            < PROJECT_SHARE * (model.request_tokens - beside)
            for model in models
        },
        indexing=IndexingAnswer(chunks=sum(file.chunk_count for file in files), waiting=waiting),
    ).json()


urlpatterns = [
    path("projects/", ProjectsView.as_view()),
    path("projects/<id:project>/", ProjectView.as_view()),
    path("projects/<id:project>/files/", ProjectFilesView.as_view()),
    path("projects/<id:project>/files/<id:file>/", ProjectFileView.as_view()),
]
