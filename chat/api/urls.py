"""Every route below /api/. Ids are checked by the views, so that a malformed one has its own answer."""

from django.urls import path, re_path

from chat.api.agents import AgentsView, AgentView
from chat.api.compression import CompressionView
from chat.api.feedback import FeedbackView
from chat.api.messages import MessagesView, SelectionView, TreeView
from chat.api.models import ModelsView
from chat.api.own_tokens import OwnTokensView, OwnTokenView
from chat.api.portability import ExportView, ImportView
from chat.api.runs import PacketsView, RunCancellationView, RunView
from chat.api.schema import AsyncApiView, DocsView, SchemaView, not_found
from chat.api.sessions import SeenView, SessionsView, SessionView
from chat.api.shares import SharesView, ShareView
from chat.api.system_prompt import SystemPromptView
from chat.api.tokens import TokenView
from chat.api.turns import RegenerationsView, TurnCancellationView, TurnsView
from chat.api.usage import UsageView
from chat.api.withdrawal import WithdrawalView

urlpatterns = [
    path("auth/token/", TokenView.as_view()),
    path("auth/tokens/", OwnTokensView.as_view()),
    path("auth/tokens/<str:token>/", OwnTokenView.as_view()),
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
    # Last, so that nothing below /api/ is redirected for want of a slash: a POST would lose its body.
    re_path(r"", not_found),
]
