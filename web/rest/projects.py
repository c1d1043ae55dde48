"""Views of projects: instructions and files that several of the user's sessions share."""

from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import projects as project_events
from chat.presenters.files import FileAnswer, present_file
from chat.presenters.projects import ProjectAnswer, present_project, present_projects
from chat.protocol.body import Body, patched
from chat.protocol.errors import ApiError
from chat.protocol.members import Visible
from chat.runs import quotas
from chat.transcript.session_settings import MAX_PROMPT_CHARACTERS
from knowledge.models import File, Project
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.newest_rows import newest_rows_parameters, read_newest_rows
from web.rest.openapi import documented

MAX_FILES: Final = 1000


class ProjectBody(Body):
    """Omitted fields get their default when a project is created or replaced, and stay when it is updated."""

    name: Annotated[Visible, Meta(max_length=200)]
    instructions: Annotated[str, Meta(max_length=MAX_PROMPT_CHARACTERS)] = ""
    files: Annotated[list[UUID], Meta(max_length=MAX_FILES)] = []


class ProjectFileBody(Body):
    file: UUID


class ProjectsView(StrictAPIView):
    @documented(
        "projects_list",
        answer=list[ProjectAnswer],
        parameters=newest_rows_parameters("projects"),
    )
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
        with quotas.PROJECTS.room_for_one(owner):
            project = Project.objects.create(owner=owner, **fields)
            project.change(files)
        project_events.publish_changed(project)
        return Response(present_project(project), status.HTTP_201_CREATED)


class ProjectView(StrictAPIView):
    @documented("projects_read", answer=ProjectAnswer)
    def get(self, request: Request, project: str) -> Response:
        """Read a project."""
        return Response(present_project(get_own_project(request, project)))

    @documented("projects_replace", body=ProjectBody, answer=ProjectAnswer)
    def put(self, request: Request, project: str) -> Response:
        """Replace a project; omitted fields get their default."""
        return self._change(request, get_own_project(request, project), self.parse(ProjectBody).members())

    @documented("projects_update", body=patched(ProjectBody), answer=ProjectAnswer)
    def patch(self, request: Request, project: str) -> Response:
        """Update a project; omitted fields stay as they are. `files` replaces all files of the project."""
        return self._change(
            request, get_own_project(request, project), self.parse(patched(ProjectBody)).members()
        )

    @documented("projects_delete", statuses=(204,))
    def delete(self, request: Request, project: str) -> Response:
        """Delete a project. Its sessions and files continue without a project."""
        found = get_own_project(request, project)
        owner_id, pk = found.owner_id, found.pk
        found.delete()
        project_events.publish_deleted(owner_id, pk)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, request: Request, project: Project, body: dict[str, Any]) -> Response:
        if not project.change(**_resolve_fields(request, body)):
            raise ApiError("project_not_found")
        project_events.publish_changed(project)
        return Response(present_project(project))


class ProjectFilesView(StrictAPIView):
    @documented("project_files_create", body=ProjectFileBody, answer=FileAnswer, statuses=(201, 200))
    def post(self, request: Request, project: str) -> Response:
        """Add one of the user's files. 200 if it already belongs to the project; a file of another project moves."""
        found = get_own_project(request, project)
        named = str(self.parse(ProjectFileBody).file)
        file = get_own_row(_own_files(request), named, "file", field="file")
        if file.project_id == found.pk:
            return Response(present_file(file))
        if found.files.count() >= MAX_FILES:
            raise ApiError("invalid_value", f"A project has at most {MAX_FILES} files.", field="file")
        if not file.join(found):
            gone = not Project.objects.filter(pk=found.pk).exists()
            raise ApiError("project_not_found" if gone else "file_not_found")
        project_events.publish_changed(found)
        return Response(present_file(file), status.HTTP_201_CREATED)


class ProjectFileView(StrictAPIView):
    @documented("project_files_delete", statuses=(204,))
    def delete(self, request: Request, project: str, file: str) -> Response:
        """Remove a file from the project. The file itself stays."""
        found = get_own_project(request, project)
        held = get_own_row(_own_files(request).filter(project=found), file, "file")
        if not held.leave(found):
            raise ApiError("file_not_found")
        project_events.publish_changed(found)
        return Response(status=status.HTTP_204_NO_CONTENT)


def get_own_project(request: Request, pk: str) -> Project:
    return get_own_row(Project.objects.visible_to(current_user(request)), pk, "project")


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
