"""Tells the sockets that watch a user's session list that a project has changed or was deleted, by its id.

At most once, and stored nowhere, like changes of the session list: clients read the project by REST.
"""

from uuid import UUID

from chat.events import session_list
from chat.events.frames import ProjectChanged, ProjectDeleted
from chat.protocol.wire import encode
from knowledge.models import Project


def publish_changed(project: Project) -> None:
    """Publish the committed creation of a project, or a committed change of its fields or files."""
    session_list.publish(project.owner_id, encode(ProjectChanged(project.pk)))


def publish_deleted(owner_id: int, project_id: UUID) -> None:
    """Publish the committed deletion of a project."""
    session_list.publish(owner_id, encode(ProjectDeleted(project_id)))
