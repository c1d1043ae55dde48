"""Django settings: the environment variables (variables.py), and what no variable sets.

Other modules read `django.conf.settings`, never the environment.
"""

import logging
import sys
from typing import Any

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF

from config import database_url
from config import environment as env
from config.database_timeouts import limit
from config.file_storage import storage_of
from config.installation import ROOT, version
from config.log_format import logging_settings
from config.postgres import retry_for_waiting
from config.variables import *  # noqa: F403  each is a setting
from config.variables import (
    DATA_DIR,
    DATABASE_URL,
    DEVELOPMENT,
    HAS_TLS,
    LOG_FORMAT,
    LOG_LEVEL,
    PAGE_HOSTS,
    PREPARE_STATEMENTS,
    PREVIEW_ORIGIN,
    STATEMENT_TIMEOUT_S,
)

# Makes Django's generic classes (ModelAdmin[Session]) subscriptable at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = ROOT

# --- Django -----------------------------------------------------------------------------------------------

# For its error pages, which show settings and local variables to everybody; our code uses DEVELOPMENT.
DEBUG = False
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.secret_filter.ReportFilter"
ALLOWED_HOSTS = [*PAGE_HOSTS, env.host_of(PREVIEW_ORIGIN)] if PREVIEW_ORIGIN else PAGE_HOSTS

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "config.apps.StaticFilesConfig",
    "django.contrib.postgres",
    "csp",
    "servestatic",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "knowledge",
    "chat",
    "web",
    "llm_worker",
    "compression",
    "features.accounts",
    "features.agents",
    "features.approvals",
    "features.feedback",
    "features.files",
    "features.knowledge_bases",
    "features.mcp",
    "features.agui",
    "features.openai",
    "features.projects",
    "features.prompts",
    "features.providers",
    "features.sharing",
    "features.tags",
    "features.titles",
    "features.transfer",
    "features.trash",
    "features.usage",
    "features.webhooks",
    "config.apps.CommandsConfig",
    # Last, so that chat's templates of the same name come first.
    "config.apps.TurnwireAdminConfig",
]
MIDDLEWARE = [
    "web.rest.middleware.RequestIdMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "web.rest.middleware.answer_probes_of_any_host",
    "django.middleware.security.SecurityMiddleware",
    "web.page.static_files.StaticFiles",
    "csp.middleware.CSPMiddleware",
    "features.accounts.logins.Sessions",
    "web.page.index.Languages",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "features.accounts.logins.Authentication",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
# Pages of other origins may ask the facades of other people's protocols, which know tokens alone and no cookie.
CORS_URLS_REGEX = r"/(v1/|agui$)"
CORS_ALLOW_ALL_ORIGINS = True
# SDKs send headers of their own; the wildcard does not stand for the token's.
CORS_ALLOW_HEADERS = ("*", "authorization")
CORS_EXPOSE_HEADERS = ("x-request-id", "retry-after")
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "web.page.index.frame",
                "features.accounts.login.login_ways",
            ]
        },
    }
]
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = ["web.formats"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"

# --- Postgres: no connection is held while streaming, so a small pool serves many runs ---------------------

DATABASES: dict[str, Any] = {"default": database_url.parse(DATABASE_URL)}
DATABASES["default"]["ENGINE"] = "config.postgres"
# A server whose host has vanished is noticed: without data on the way by keepalives, with some by the user timeout (ms).
_VANISHED_HOST = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}
DATABASES["default"]["OPTIONS"] = {
    **_VANISHED_HOST,
    **DATABASES["default"].get("OPTIONS", {}),
    # Short reconnect_timeout: during an outage callers retry, and the pool connects on demand. With the default of 5
    # minutes the pool's back-off doubles, and it reconnects long after Postgres is available again.
    "pool": {
        "min_size": 1,
        "max_size": 20,
        "timeout": 5,
        # Connections that a burst opened are closed again, one in each of these periods: each takes 6 MB of Postgres. The
        # next burst waits for those that were closed (decision 0021).
        "max_idle": 120,
        "reconnect_timeout": 2,
        "reconnect_failed": retry_for_waiting,
    },
    "connect_timeout": 5,
}
# Limits of each connection, which depend on what the process does. 0 sends none, for a pooler that refuses startup
# options.
limit(DATABASES["default"]["OPTIONS"], sys.argv, STATEMENT_TIMEOUT_S)
# After a restart of Postgres the pool's connections are dead; Django's health check detects it.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# A cursor of the server is one of its session, too.
DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = not PREPARE_STATEMENTS

# --- Caches -------------------------------------------------------------------------------------------------

# The caches of each process. They are not in Redis, which must have room for the logs of runs.
CACHES: dict[str, dict[str, Any]] = {
    # Which logins were used a moment ago (features/accounts/logins.py).
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    # Pages of shared links (features/sharing/shared_page.py), of at most a megabyte each.
    "shared_pages": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "shared_pages",
        "TIMEOUT": 300,
        "OPTIONS": {"MAX_ENTRIES": 64},
    },
}

# --- Turns -------------------------------------------------------------------------------------------------

# Prefix of the variables that rows of models may name for their keys (chat/models/model_server_rules.py).
LLM_KEY_PREFIX = "LLM_KEY_"
# Prefix of the variables that rows of MCP servers may name (features/mcp/server_rules.py).
MCP_VARIABLE_PREFIX = "MCP_"
# In one queue, of all users: five times what a worker runs side by side. More would wait longer than people do.
MAX_QUEUED_RUNS = 1000
# Quotas of a user (chat/runs/quotas.py); 0: no limit.
MAX_SESSIONS_PER_USER = 10_000
MAX_AGENTS_PER_USER = 200
MAX_PROMPTS_PER_USER = 1000
MAX_PROJECTS_PER_USER = 200
MAX_API_TOKENS_PER_USER = 1000
MAX_SOCKETS_PER_USER = 500
KEEP_EVENTS_PER_SESSION = 1000
MAX_ANSWERS_PER_QUESTION = 50
# Of the history window: a summary is ready before the rest is full (decision 0032).
COMPRESSION_TRIGGER_RATIO = 0.75
# Of the history: what stays verbatim beside a summary.
RECENT_MESSAGES_RATIO = 0.2
COMPRESSION_BACKOFF_S = 60
LOGGING = logging_settings(LOG_FORMAT, LOG_LEVEL, development=DEVELOPMENT)
# Python's warnings would be lines of text.
logging.captureWarnings(LOG_FORMAT == "json")
MAX_MESSAGE_CHARACTERS = 100_000

# --- Files, searches in them and in the web -----------------------------------------------------------------

# Quotas (chat/runs/quotas.py); 0: no limit.
MAX_KNOWLEDGE_BASES_PER_USER = 200
MAX_DOCUMENTS_PER_BASE = 10_000
# Files and documents.
MAX_WAITING_FILES_PER_USER = 1000
# The folder of each built-in tool, in the order in which people are offered them (llm_worker/tools).
TOOLS = (
    "llm_worker.tools.web_search",
    "llm_worker.tools.open_url",
    "llm_worker.tools.current_time",
    "llm_worker.tools.research_agent",
    "llm_worker.tools.ask_user",
    "llm_worker.tools.search_project",
    "llm_worker.tools.knowledge_base_search",
    "llm_worker.tools.read_file",
)
SAFE_SUMMARY_TIMEOUT_S = 60

# --- Accounts -----------------------------------------------------------------------------------------------

# For each step of a delivery: the thread that sends e-mail waits this long for a silent server.
EMAIL_TIMEOUT = 20
# Seconds for which a link that sets a password is valid.
PASSWORD_RESET_TIMEOUT = 3_600
# django-allauth. Its own accounts, e-mails, limits and pages are not used (decision 0080).
ACCOUNT_ADAPTER = "features.accounts.login.Accounts"
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_RATE_LIMITS = False
MFA_ADAPTER = "features.accounts.second_factor.SecondFactors"
SOCIALACCOUNT_ADAPTER = "features.accounts.oidc.SocialAccounts"
SOCIALACCOUNT_STORE_TOKENS = False

# --- Languages of the page, its e-mails and the admin (web/locale/) -----------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("ar", "العربية"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("zh-hans", "简体中文"),
]
# One year, for the language chosen on the page's settings dialog.
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SAMESITE = "Lax"

# --- Requests: how long clients may take, and how many connections they have --------------------------------

# config/http_protocol.py and web/rest/request_bodies.py.
REQUEST_HEADER_TIMEOUT_S = 20
REQUEST_BODY_TIMEOUT_S = 60
RESPONSE_TIMEOUT_S = 60
MAX_CONNECTIONS_PER_ADDRESS = 500

# --- Web ---------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": storage_of("STORAGE_URL"),
    "staticfiles": {"BACKEND": "web.page.static_files.HashedStaticFiles"},
}
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "web.page.vendor.VendorFinder",
]
# In development, files that have not been collected (make run collects at each start) are served from their folders.
SERVESTATIC_USE_FINDERS = DEVELOPMENT and not (STATIC_ROOT / "staticfiles.json").exists()
SERVESTATIC_MAX_AGE = 0 if DEVELOPMENT else 60  # of names without a hash
SERVESTATIC_ALLOW_ALL_ORIGINS = False
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
if not DEVELOPMENT:
    # Load balancers and Prometheus request these without the proxy that terminates TLS.
    SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    # Browsers keep no secure cookie of an address without TLS: nobody could log in.
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HAS_TLS

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "CommonPasswordValidator", "NumericPasswordValidator")
] + [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}}
]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "web.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["web.rest.uploads.StrictJSONParser"],
    "EXCEPTION_HANDLER": "web.rest.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "web.rest.openapi.Schema",
}
# Paths whose errors have another shape than the API's, and what converts the body of one.
ERROR_SHAPES = {"/v1/": "features.openai.errors.convert_error"}
# What the AsyncAPI document describes beside the socket at /ws/.
SOCKET_CHANNELS = ["features.openai.socket_contract.CHANNEL"]
REST_KNOX = {"TOKEN_TTL": None, "AUTH_HEADER_PREFIX": "Token"}
VERSION = version()
SPECTACULAR_SETTINGS = {
    "TITLE": "Turnwire",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/",
    "SWAGGER_UI_DIST": "SIDECAR",  # from our own origin
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "PATH_CONVERTER_OVERRIDES": {"id": {"type": "string", "format": "uuid"}},
    # Sets of values that several fields have, or whose fields have equal names.
    "ENUM_NAME_OVERRIDES": {
        "ErrorCode": "web.rest.errors.CODES",
        "ApprovalKind": "chat.models.approval.Kind.values",
        "KindEnum": "knowledge.models.FileKind.values",
        "FileStatus": "knowledge.models.FileStatus.values",
        "McpServerStatus": "chat.models.mcp_server.McpStatus.values",
        "McpRequestKind": "chat.models.mcp_attachments.McpRequestKind.values",
        "McpRequestStatus": "chat.models.mcp_attachments.McpRequestStatus.values",
        "MessageRole": "chat.models.Role.values",
        "MemberRole": "knowledge.models.MemberRole.values",
        "RunStatus": "web.rest.openapi.RUN_STATUSES",
        "ToolCallStatus": "chat.models.tool_call.ToolCallStatus.values",
    },
    "COMPONENT_SPLIT_PATCH": False,  # chat/protocol/body.py names the bodies of a PATCH
}
# The names of the variables read above: no row of a model or an MCP server may name one.
OWN_VARIABLES = frozenset(env.NAMES_READ)
