"""Which admin site is used: ours, with pages over all runs (web/admin_site.py)."""

from django.contrib.admin.apps import AdminConfig


class OurAdminConfig(AdminConfig):
    default_site = "web.admin_site.Site"
