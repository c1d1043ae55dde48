"""The app configuration of the admin, which selects the admin site of web/admin_site.py."""

from django.contrib.admin.apps import AdminConfig


class TurnwireAdminConfig(AdminConfig):
    default_site = "web.admin_site.Site"
