"""Which admin site is used: ours, with pages over all runs (chat/admin_site.py)."""

from django.contrib.admin.apps import AdminConfig


class OurAdminConfig(AdminConfig):
    default_site = "chat.admin_site.Site"
