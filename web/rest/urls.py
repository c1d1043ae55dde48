"""The routes below /api/. Views parse ids themselves, so that a malformed id has its own error code."""

from django.urls import path, re_path

from web.rest.agents import AgentsView, AgentView
from web.rest.api_tokens import ApiTokensView, ApiTokenView
from web.rest.compression import CompressionView
from web.rest.feedback import FeedbackView
from web.rest.messages import MessagesView, SelectionView, TreeView
from web.rest.models import ModelsView
from web.rest.runs import PacketsView, RunCancellationView, RunView
from web.rest.schema_views import AsyncApiView, DocsView, SchemaView, not_found
from web.rest.session_files import ExportView, ImportView
from web.rest.sessions import SeenView, SessionsView, SessionView
from web.rest.shares import SharesView, ShareView
from web.rest.system_prompt import SystemPromptView
from web.rest.token_login import TokenView
from web.rest.turns import RegenerationsView, TurnCancellationView, TurnsView
from web.rest.usage import UsageView
from web.rest.withdrawal import WithdrawalView

urlpatterns = [
    path("auth/token/", TokenView.as_view()),
    path("auth/tokens/", ApiTokensView.as_view()),
    path("auth/tokens/<str:token>/", ApiTokenView.as_view()),
    path("models/", ModelsView.as_view()),
    path("agents/", AgentsView.as_view()),
    path("agents/<str:agent>/", AgentView.as_view()),
    path("sessions/", SessionsView.as_view()),
    path("sessions/import/", ImportView.as_view()),
    path("sessions/<str:session>/", SessionView.as_view()),
    path("sessions/<str:session>/seen/", SeenView.as_view()),
    path("sessions/<str:session>/export/", ExportView.as_view()),
    path("sessions/<str:session>/messages/", MessagesView.as_view()),
    path("sessions/<str:session>/tree/", TreeView.as_view()),
    path("sessions/<str:session>/turns/", TurnsView.as_view()),
    path("sessions/<str:session>/compression/", CompressionView.as_view()),
    path("sessions/<str:session>/shares/", SharesView.as_view()),
    path("shares/<str:share>/", ShareView.as_view()),
    path("messages/<str:message>/regenerations/", RegenerationsView.as_view()),
    path("messages/<str:message>/selection/", SelectionView.as_view()),
    path("messages/<str:message>/withdrawal/", WithdrawalView.as_view()),
    path("messages/<str:message>/feedback/", FeedbackView.as_view()),
    path("runs/<str:run>/", RunView.as_view()),
    path("runs/<str:run>/packets/", PacketsView.as_view()),
    path("runs/<str:run>/cancellation/", RunCancellationView.as_view()),
    path("turns/<str:turn>/cancellation/", TurnCancellationView.as_view()),
    path("usage/", UsageView.as_view()),
    path("system-prompt/", SystemPromptView.as_view()),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", DocsView.as_view()),
    path("asyncapi.yaml", AsyncApiView.as_view()),
    # Last, so that no path below /api/ is redirected to add a slash: a POST would lose its body.
    re_path(r"", not_found),
]
