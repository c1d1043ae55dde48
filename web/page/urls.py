"""Routes of the HTML pages but those of features: the chat, the language, previews and the manifest."""

from django.urls import path
from django.views.i18n import set_language

from web.page.index import catalog, manifest, page
from web.page.preview import preview_diagram, preview_html

urlpatterns = [
    path("", page, name="page"),
    path("language/", set_language, name="set_language"),
    path("language/catalog.js", catalog, name="catalog"),
    path("preview/html/", preview_html, name="preview_html"),
    path("preview/diagram/", preview_diagram, name="preview_diagram"),
    path("manifest.webmanifest", manifest, name="manifest"),
]
