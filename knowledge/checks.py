"""The system check of the storage of files, for `manage.py check --deploy`."""

from typing import Any

from django.core.checks import CheckMessage, Error, register
from django.core.files.storage import default_storage


@register("storage", deploy=True)
def check_storage(**_: Any) -> list[CheckMessage]:
    """Store, read, list and delete a content in the bucket. A folder is checked by whoever starts the processes."""
    find_problem = getattr(default_storage, "find_problem", None)
    problem = find_problem() if find_problem else ""
    hint = "Look at STORAGE_URL and the credentials (docs/operations.md)."
    return [Error(f"STORAGE_URL: {problem}.", hint=hint, id="storage.E001")] if problem else []
