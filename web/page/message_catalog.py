"""The texts of the page's modules in the language of the request, as a script of our own origin."""

from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page
from django.views.i18n import JavaScriptCatalog

# Browsers revalidate it with every page (ETag), so that a page never runs with the texts of an earlier release.
catalog = cache_control(private=True, no_cache=True)(
    conditional_page(JavaScriptCatalog.as_view(packages=["web"]))
)
