"""The overview pages of the admin (usage, workers): their titles and the permission they need.

The module is outside web/admin/, which imports the models: the admin site needs these values before models are loaded.
"""

from typing import Final

from django.utils.translation import gettext_lazy as _

PERMISSION: Final = "chat.view_run"
OVERVIEWS: Final = {"usage": _("Usage"), "workers": _("Queues and workers")}
