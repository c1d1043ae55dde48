"""Translations of the names, help texts and choices of models in the admin.

The models themselves are not translated: the API and the migrations use their English names.
"""

from typing import Any, Final

from django.db.models import Model
from django.utils.functional import lazy
from django.utils.text import capfirst
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

CHOICES: Final = (
    # Runs, tool calls, compressions and files.
    _("queued"), _("running"), _("stopping"), _("waiting"), _("completed"), _("failed"), _("stopped"),
    _("pending"), _("refused"), _("unknown"), _("done"), _("nothing"), _("processing"), _("ready"),
    # Steps of a run's history that are no states (run_history.py).
    _("made"), _("announced"), _("lost"),
    # Who requested a compression; the purpose of a request.
    _("auto"), _("user"), _("staff"), _("title"), _("summary"), _("Safe Summary"), _("expansion"),
    # Messages and prompts.
    _("root"), _("assistant"), _("moving"), _("Append Only"), _("agent prompt"), _("project documents"), _("dynamic context"),
    _("reject"), _("enqueue"), _("interrupt"),
    # Tool policies and approvals.
    _("never"), _("ask"), _("ask unless read only"), _("approved"), _("expired"), _("approval"), _("question"), _("answered"), _("declined"), _("sign in"), _("signed in"), _("address"),
    # Files and members.
    _("text"), _("image"), _("tabular"), _("owner"), _("editor"), _("reader"), _("full"), _("restricted"), _("read"), _("write"),
    # MCP servers.
    _("down"), _("needs sign in"), _("each user"), _("all users"),
)  # fmt: skip
_capitalised: Any = lazy(lambda word: capfirst(gettext(word)), str)


def translate_choices(*tables: type[Model]) -> None:
    """Replace the labels of choices by lazy texts. They are the same in English, so no migration is needed."""
    with override(None):
        known = {str(word) for word in CHOICES}
    for table in tables:
        for field in table._meta.fields:  # noqa: SLF001  Django's documented model API
            if field.choices:
                field.choices = [
                    (value, _translatable(str(label), known)) for value, label in field.flatchoices
                ]


def _translatable(label: str, known: set[str]) -> Any:
    """Return the label as a lazy text. A label that is a name of the API stays as it is."""
    word = label if label in known else label.lower()
    if word not in known:
        return label
    return _(word) if word == label else _capitalised(word)


def translate_logged(message: str) -> str:
    """Translate the log message of a staff action: its name and its result."""
    return ": ".join(gettext(part) for part in message.split(": ") if part)


NAMES: Final = (
    _("ID"), _("account"), _("additional context"), _("after"), _("agent"), _("agents"), _("announced at"), _("answered event"), _("caller tools"), _("given rounds"),
    _("api key env"), _("api token"), _("arguments"), _("attempt"), _("base url"), _("beat at"), _("cached price"),
    _("cached tokens"), _("chat message"), _("chat messages"), _("cited document"), _("cited documents"), _("description"), _("dialect"), _("dialect source"), _("redirects to"), _("redirect source"), _("sent back"),
    _("claimed at"), _("client message id"), _("common"), _("completion price"), _("completion tokens"), _("content"),
    _("compression"), _("compressions"), _("context layout"), _("context window"), _("continuations"), _("cost"),
    _("created at"), _("cost per day"), _("cycle"), _("cycles"), _("day"), _("deadline"), _("digest"), _("document id"), _("documents"),
    _("duration ms"), _("dynamic context"), _("emoji"), _("enabled"), _("ended at"), _("error code"),
    _("error message"), _("error retryable"), _("estimated tokens"), _("failures"), _("feedback"), _("finish reason"),
    _("finish tokens"), _("forced tool"), _("has own models"), _("has provisional title"), _("history"),
    _("group"), _("history window"), _("id"), _("limits of a group"), _("limits of groups"), _("default limits"), _("in vain"), _("is default"), _("is demo"), _("is history cut"),
    _("is imported"), _("is estimated"),
    _("is positive"), _("kind"), _("last seq"), _("last summarized message"), _("latest child"),
    _("latest event"), _("leaf"), _("lease until"), _("max output tokens"), _("max requests"), _("max tools"), _("refused tools"), _("message"), _("messages"),
    _("model"), _("model config"), _("model configs"), _("model index"), _("models"), _("name"),
    _("number"), _("options"), _("origin"), _("owner"), _("pages"), _("parent"), _("parent role"), _("parent tool call"), _("parts"),
    _("prefix share"), _("project"),
    _("prompt"), _("prompt block"), _("prompt blocks"), _("prompt price"), _("prompt version"), _("prompt versions"), _("unsupported options"), _("unused since"), _("prompt tokens"), _("queue"),
    _("queued at"), _("ready queue"), _("reasoning"), _("reasoning ms"), _("reasoning tokens"), _("reminder"),
    _("replaces system prompt"), _("requires alternating roles"), _("reply to"), _("request id"), _("report"), _("report reasoning"), _("request digest"),
    _("reserved tokens"), _("response"), _("retry at"), _("revoked at"), _("role"), _("run"), _("runs"), _("runs per day"),
    _("saved seq"), _("seen event"), _("sent at"), _("sent request"), _("sent requests"), _("shared with"), _("shared with users"), _("session"),
    _("sessions"), _("spent inferences"), _("spent searches"), _("spent tokens"), _("spent tool calls"), _("saved prompt"), _("saved prompts"), _("share"), _("shares"), _("side request"), _("side requests"), _("purpose"), _("questions"), _("position"), _("suggestion"), _("suggestions"), _("reply"), _("shows details"), _("status"), _("structured"), _("stored bytes"), _("is measured"), _("is pinned"), _("is archived"), _("is context instructing"), _("deleted at"), _("purge at"), _("temporary until"), _("part of"), _("tags"), _("summary"),
    _("supports prefill"), _("supports prompt cache key"), _("supports tool choice none"),
    _("supports tools"), _("supports vision"), _("system prompt"), _("system prompts"), _("tab index"),
    _("text"), _("text before"), _("time to first token ms"), _("title"), _("token count"), _("token factor"), _("token samples"), _("tokenizer"),
    _("tokens"), _("tokens per day"), _("tokens after"), _("tokens before"), _("tool call"), _("tool call id"), _("tool calls"),
    _("tools"), _("triggered by"), _("turn"), _("turn number"), _("turns"), _("updated at"), _("upstream code"),
    _("upstream message"), _("upstream status"), _("url"), _("use by day"), _("use of a day"), _("user"),
    _("settings"), _("user message"), _("while answering"),
    _("content type"), _("file"), _("files"), _("height px"), _("instructions"), _("message file"), _("message files"), _("position"),
    _("projects"), _("size bytes"), _("width px"),
    _("actor"), _("at"), _("before"), _("are bases picked"), _("earlier knowledge bases"), _("has picked bases"), _("change of a membership"), _("changes of memberships"),
    _("invitation"), _("invitations"), _("email"), _("max uses"), _("uses"), _("created by"), _("expires at"),
    _("webhook"), _("webhooks"), _("last attempt at"), _("last status"), _("last error"), _("dropped"), _("encrypted secret"),
    _("provider"), _("providers"), _("encrypted api key"), _("upstream name"), _("is enabled"), _("latest check"),
    _("approval"), _("approvals"), _("tool policy"), _("tool policies"), _("requested at"), _("decision"), _("decided at"), _("decided by"), _("note"), _("server"), _("credential"),
    _("edited arguments"), _("is remembered"), _("tool identity"), _("changed"), _("bound to"), _("parameters"), _("form"), _("answer"),
    _("MCP server"), _("MCP servers"), _("transport"), _("command"), _("document"), _("base url"), _("env"), _("headers"), _("query"), _("enabled tools"), _("problem"), _("listed at"), _("revision"), _("sign in"),
    _("oauth issuer"), _("oauth client id"), _("oauth client secret"), _("assumes pkce"), _("is listed"), _("sends structured"),
    _("context usage"), _("knowledge access"), _("knowledge base"), _("knowledge bases"), _("routing hint"), _("routing keywords"), _("topics"),
)  # fmt: skip
# knox's table of tokens.
TOKENS: Final = (_("auth token"), _("auth tokens"), _("token key"), _("created"), _("expiry"))
# Help texts of fields.
HINTS: Final = (
    _("The link is sent there, and not shown. Empty: you give it to whom you invite."),
    _("The name that models call the tool by."),
    _("The names of its tools begin with it: letters, digits, - and _."),
    _('Of stdio: ["program", "argument"]. MCP_COMMANDS names the programs.'),
    _("Of http; of openapi that of its document."),
    _("Of openapi, instead of a url: the document itself, JSON or YAML."),
    _(
        "Of openapi: where the operations are, if not where the document says; headers and query are sent there alone."
    ),
    _(
        'Of openapi, {"key": "VARIABLE"}: requests have ?key= with the value that VARIABLE has for the workers.'
    ),
    _("Of http: who signs in to a server that demands it, each user, or staff for all users."),
    _("Of http: the issuer with which staff have registered a client, if it accepts no others."),
    _("The id of that client."),
    _("The variable of the workers that has the secret of that client; empty: it has none."),
    _("Of http: its issuer takes PKCE with S256, although its metadata does not say so (Entra ID, Cognito)."),
    _("Models read the structured content of an answer as well if its text leaves some of it out."),
    _("Of a trial: it comes with Turnwire, and MCP_COMMANDS need not name it."),
    _('{"NAME": "VARIABLE"}: the server gets NAME with the value that VARIABLE has for the workers.'),
    _('{"Header": "VARIABLE"}: requests have the value that VARIABLE has for the workers.'),
    _("Whether users are asked before a tool is called; a rule of the tool itself comes first."),
    _("Its own names of the tools that are offered; empty: all."),
    _("How many requests its server takes at once, those of other models included; empty: any number."),
    _(
        "How many tools its server takes in one request; of more, those used most are sent. Learned from its refusals; empty: any number."
    ),
    _(
        "Tools that its server refused, with a digest of their schemas: not sent until they change, or are removed here."
    ),
    _("Of the prompt and completion tokens, those that the server did not report."),
    _("Tokens that no server reported are counted too."),
    _("Whether the user is asked before the tool is called."),
    _("Those who register become members of it."),
    _("How many accounts may be made with it."),
    _("As it is shown."),
    _("As people see it, and as the server calls it, unless another name for it is given."),
    _("As the server calls it; empty: by its name."),
    _("OpenAI-compatible address, which usually ends in /v1."),
    _(
        "The provider that serves it, with its address and key; empty: the address and the variable of this row."
    ),
    _("Ids of those that its chats search, in their order."),
    _("The user who made the change."),
    _("The user whose role was changed."),
    _('Joins consecutive user messages, for servers that answer "roles must alternate".'),
    _("How many of its first messages are those of the cycle before."),
    _("Name of the environment variable that holds the key."),
    _("Names of the models that answer; empty: the default model."),
    _("Names of the tools it may use."),
    _("What the page of a new chat with it suggests to ask."),
    _("The lowest stands first; six are shown."),
    _("Of all its messages, by our own count."),
    _(
        "What its server refuses or omits. Learned from its refusals; forgotten when its address or name changes."
    ),
    _("Options of a turn that its server refuses: they are not offered, and refused with their name."),
    _("Of the history with the new summary."),
    _("Of the history: the summary in force and the messages after it."),
    _("Of the others, each: its letter, and its tokens by our own count."),
    _("Of the window, for everything that is not history."),
    _("OpenAI-compatible address ending in /v1; empty: LLM_BASE_URL."),
    _("Groups whose members may use it."),
    _("People who may use it, beside those groups."),
    _("Part of the tokens that repeat the beginning of the request before it."),
    _("Per million completion tokens, reasoning included."),
    _("Per million prompt tokens the server had cached; empty: as any other prompt token."),
    _("Per million prompt tokens; empty: unknown, and so is what a run costs."),
    _(
        "Per user and day (UTC). Empty: the group changes nothing; 0: no limit. Of several groups the most generous counts."
    ),
    _("Per user and day (UTC), unless a group of the user sets another limit. Empty or 0: no limit."),
    _("Reasoning, and what tools were asked and answered."),
    _("Share of questions that are answered the same with the summary as with the text."),
    _("Stands last in every request."),
    _("That answers on this branch; its window is the one to fit."),
    _("The Celery queue of its worker pool."),
    _("The HTTP status of the model server's error."),
    _("The run that requested it could not be shown its whole history, so it is due in any case."),
    _("The built-in demo, shown when no model is configured."),
    _("The longest answer, sent as max_tokens; empty: not sent, the limit of the server holds."),
    _("The model's name, kept when its configuration is deleted."),
    _("The model server's own error code or type."),
    _("The others, as they were sent; pictures are left out."),
    _("The prompt is the whole system prompt; an empty one means there is none."),
    _("Tokens that are left for history."),
    _("Tokens."),
    _("What the model server said, without secrets."),
    _("What it was built for, and what of the branch it does not hold, and why."),
    _("Encoding that counts exactly, cl100k_base or o200k_base; empty: estimated, by the token factor."),
    _("Requests that the token factor was measured on."),
    _("Tokens that the server reports for one of our estimate, measured while no tokenizer is set."),
)


def translate_names(*tables: type[Model]) -> None:
    """Replace the names and help texts of the models and their fields by translatable ones."""
    with override(None):
        texts = {str(text): text for text in (*NAMES, *TOKENS, *HINTS)}
    for table in tables:
        for named in (table._meta, *table._meta.fields, *table._meta.many_to_many):  # noqa: SLF001  Django's documented model API
            for attribute in ("verbose_name", "verbose_name_plural", "help_text"):
                text = getattr(named, attribute, None)
                if text in texts:
                    setattr(named, attribute, texts[text])
