"""The routes below /api/, but those of features (config/urls.py). Views parse ids themselves, so that a malformed id has its own error code."""

from django.urls import path, re_path

from web.rest.compression import CompressionView
from web.rest.messages import (
    AnswerEditsView,
    MessageSearchView,
    MessagesView,
    MessageView,
    SelectionView,
    TreeView,
    WithdrawalView,
)
from web.rest.preferences import ModelsView, PreferencesView, SystemPromptView
from web.rest.schema_views import DocsView, SchemaView, not_found
from web.rest.sessions import BulkView, ForkView, SeenView, SessionsView, SessionView
from web.rest.turns import (
    ContinuationView,
    PacketsView,
    RegenerationsView,
    RunCancellationView,
    RunContinuationView,
    RunView,
    TurnCancellationView,
    TurnsView,
)

urlpatterns = [
    path("models/", ModelsView.as_view()),
    path("preferences/", PreferencesView.as_view()),
    path("sessions/", SessionsView.as_view()),
    path("sessions/bulk/", BulkView.as_view()),
    path("sessions/<id:session>/", SessionView.as_view()),
    path("sessions/<id:session>/seen/", SeenView.as_view()),
    path("sessions/<id:session>/fork/", ForkView.as_view()),
    path("sessions/<id:session>/messages/", MessagesView.as_view()),
    path("sessions/<id:session>/search/", MessageSearchView.as_view()),
    path("sessions/<id:session>/tree/", TreeView.as_view()),
    path("sessions/<id:session>/turns/", TurnsView.as_view()),
    path("sessions/<id:session>/compression/", CompressionView.as_view()),
    path("messages/<id:message>/", MessageView.as_view()),
    path("messages/<id:message>/edits/", AnswerEditsView.as_view()),
    path("messages/<id:message>/regenerations/", RegenerationsView.as_view()),
    path("messages/<id:message>/continuation/", ContinuationView.as_view()),
    path("messages/<id:message>/selection/", SelectionView.as_view()),
    path("messages/<id:message>/withdrawal/", WithdrawalView.as_view()),
    path("runs/<id:run>/", RunView.as_view()),
    path("runs/<id:run>/packets/", PacketsView.as_view()),
    path("runs/<id:run>/continuation/", RunContinuationView.as_view()),
    path("runs/<id:run>/cancellation/", RunCancellationView.as_view()),
    path("turns/<id:turn>/cancellation/", TurnCancellationView.as_view()),
    path("system-prompt/", SystemPromptView.as_view()),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view()),
    # Last, so that no path below /api/ is redirected to add a slash: a POST would lose its body.
    re_path(r"", not_found),
]
