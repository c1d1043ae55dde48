"""Django settings, read from environment variables; docs/configuration.md lists them.

Other modules read `django.conf.settings`, never the environment.
"""

import logging
import sys
from typing import Any

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF

from config import database_url
from config import environment as env
from config.account_settings import *  # noqa: F403
from config.broker_settings import *  # noqa: F403
from config.cache_settings import *  # noqa: F403
from config.database_timeouts import limit
from config.enum_names import ENUM_NAMES
from config.file_storage import storage_of
from config.installation import ROOT, version
from config.knowledge_settings import *  # noqa: F403
from config.language_settings import *  # noqa: F403
from config.log_format import LEVELS, logging_settings
from config.postgres.pool import retry_for_waiting
from config.request_settings import *  # noqa: F403

# Makes Django's generic classes (ModelAdmin[Session]) subscriptable at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = ROOT
DATA_DIR = env.data_dir()

# --- Django -----------------------------------------------------------------------------------------------

# What the variable DEBUG switches on: defaults for one machine, never Django's technical error pages.
DEVELOPMENT = env.switch("DEBUG")
# Its error pages show settings and local variables to whoever asks; sources use DEVELOPMENT.
DEBUG = False
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.secret_filter.ReportFilter"
# With DEBUG, make run generates and keeps a real one.
SECRET_KEY = (
    env.text("SECRET_KEY") or "only-for-debug-and-never-kept" if DEVELOPMENT else env.secret("SECRET_KEY")
)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]" if DEVELOPMENT else "")
if not ALLOWED_HOSTS:
    env.fail("ALLOWED_HOSTS", "is required unless DEBUG=1")
PAGE_HOSTS = ALLOWED_HOSTS
# Of links that are sent or printed (web/site_origin.py).
SITE_ORIGIN = env.origin("PUBLIC_URL", of_others=())
env.renamed("SITE_ORIGIN", "PUBLIC_URL")
# How users reach the instance. Nobody puts a proxy before an instance that only its own machine names.
HAS_TLS = SITE_ORIGIN.startswith("https://") if SITE_ORIGIN else not env.are_loopback(PAGE_HOSTS)
PREVIEW_ORIGIN = env.origin("PREVIEW_ORIGIN", of_others=PAGE_HOSTS)
if PREVIEW_ORIGIN:
    ALLOWED_HOSTS = [*PAGE_HOSTS, env.host_of(PREVIEW_ORIGIN)]

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
    # Last, so that chat's templates of the same name come first.
    "config.apps.TurnwireAdminConfig",
]
MIDDLEWARE = [
    "web.rest.middleware.RequestIdMiddleware",
    "web.rest.middleware.answer_probes_of_any_host",
    "django.middleware.security.SecurityMiddleware",
    "web.page.static_middleware.StaticFiles",
    "csp.middleware.CSPMiddleware",
    "web.accounts.middleware.Sessions",
    "web.page.languages.Languages",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "web.accounts.middleware.Authentication",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
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
                "web.page.frame.frame",
                "web.accounts.oidc.login_ways.login_ways",
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

DATABASE_URL = env.url("DATABASE_URL", "postgresql://localhost/turnwire", schemes=("postgres", "postgresql"))
DATABASES: dict[str, Any] = {"default": database_url.parse(DATABASE_URL)}
DATABASES["default"]["ENGINE"] = "config.postgres"
DATABASES["default"].setdefault("OPTIONS", {})
DATABASES["default"]["OPTIONS"] |= {
    # Short reconnect_timeout: during an outage callers retry, and the pool connects on demand. With the default of 5
    # minutes the pool's back-off doubles, and it reconnects long after Postgres is available again.
    "pool": {
        "min_size": 1,
        "max_size": 20,
        "timeout": 5,
        # What a burst has opened is closed again, one in each of these periods: a connection takes 6 MB of Postgres.
        "max_idle": 10,
        "reconnect_timeout": 2,
        "reconnect_failed": retry_for_waiting,
    },
    "connect_timeout": 5,
}
# Limits of each connection, by what the process does. 0 sends none, for a pooler that refuses startup options.
STATEMENT_TIMEOUT_S = env.whole_number("STATEMENT_TIMEOUT", 15, high=3_600)
limit(DATABASES["default"]["OPTIONS"], sys.argv, STATEMENT_TIMEOUT_S)
# After a restart of Postgres the pool's connections are dead; Django's health check detects it.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Whether the statements of every turn are prepared (chat/models/sql/statements.py). Switch it off behind a pooler that does
# not support prepared statements.
PREPARE_STATEMENTS = env.switch("PREPARE_STATEMENTS", default=True)

# --- Workers -----------------------------------------------------------------------------------------------

LLM_CONCURRENCY = env.whole_number("LLM_CONCURRENCY", 200, low=1, high=10_000)
LLM_WORKERS = env.whole_number("LLM_WORKERS", 2, low=1, high=64)

# --- Turns -------------------------------------------------------------------------------------------------

LLM_BASE_URL = env.url("LLM_BASE_URL", "", schemes=("http", "https"))
LLM_MODELS = env.models("LLM_MODELS")
# Of the variables that rows of models may name for their keys (chat/models/model_server_rules.py).
LLM_KEY_PREFIX = env.constant("LLM_KEY_PREFIX", "LLM_KEY_")
ALLOWED_MODEL_SERVERS = env.urls("ALLOWED_MODEL_SERVERS", schemes=("http", "https"))
LLM_SILENCE_S = env.whole_number("LLM_SILENCE", 300, low=1, high=86_400)
MAX_LLM_CYCLES = env.whole_number("MAX_LLM_CYCLES", 6, low=1, high=100)
# Of one run, with its agent tools and all its attempts (llm_worker/loop/allowance.py).
MAX_RUN_INFERENCES = env.whole_number("MAX_RUN_INFERENCES", 64, low=1, high=100_000)
MAX_RUN_TOOL_CALLS = env.whole_number("MAX_RUN_TOOL_CALLS", 128, high=1_000_000)
MAX_RUN_SEARCHES = env.whole_number("MAX_RUN_SEARCHES", 200, high=1_000_000)
MAX_RUN_TOKENS = env.whole_number("MAX_RUN_TOKENS", 3_000_000, low=1, high=1_000_000_000)
MAX_RUN_CHARACTERS = env.whole_number("MAX_RUN_CHARACTERS", 400_000, low=1, high=100_000_000)
# Of one user in a day (UTC), unless a group says something else; 0: no limit (chat/models/daily_use.py).
MAX_RUNS_PER_DAY = env.whole_number("MAX_RUNS_PER_DAY", 0)
MAX_TOKENS_PER_DAY = env.whole_number("MAX_TOKENS_PER_DAY", 0, high=10**15)
MAX_COST_PER_DAY = env.amount("MAX_COST_PER_DAY")
MAX_RUNS_PER_USER = env.whole_number("MAX_RUNS_PER_USER", 50, low=1)
MAX_QUEUED_RUNS = env.whole_number("MAX_QUEUED_RUNS", 1000, low=1)
# Quotas of a user (chat/runs/quotas.py); 0: no limit.
MAX_SESSIONS_PER_USER = env.whole_number("MAX_SESSIONS_PER_USER", 10_000)
MAX_AGENTS_PER_USER = env.constant("MAX_AGENTS_PER_USER", 200)
MAX_PROMPTS_PER_USER = env.constant("MAX_PROMPTS_PER_USER", 1000)
MAX_PROJECTS_PER_USER = env.constant("MAX_PROJECTS_PER_USER", 200)
MAX_API_TOKENS_PER_USER = env.whole_number("MAX_API_TOKENS_PER_USER", 50)
env.renamed("MAX_TOKENS_PER_USER", "MAX_API_TOKENS_PER_USER")
MAX_SOCKETS_PER_USER = env.whole_number("MAX_SOCKETS_PER_USER", 50)
MAX_STORED_BYTES_PER_USER = env.whole_number("MAX_STORED_BYTES_PER_USER", 2**30, high=2**60)
KEEP_EVENTS_PER_SESSION = env.constant("KEEP_EVENTS_PER_SESSION", 1000)
MAX_ANSWERS_PER_QUESTION = env.constant("MAX_ANSWERS_PER_QUESTION", 50)
APPROVAL_HOURS = env.whole_number("APPROVAL_HOURS", 72, low=1, high=8_760)
TOOL_TIMEOUT_S = env.whole_number("TOOL_TIMEOUT", 120, low=1, high=3_600)
MCP_COMMANDS = env.names("MCP_COMMANDS")  # those that rows may name (chat/runs/mcp/rules.py)
RUN_DEADLINE_S = env.whole_number("RUN_DEADLINE", 900, low=1, high=86_400)
DRAIN_GRACE_S = env.whole_number("DRAIN_GRACE", 20, high=3_600)
COMPRESSION_TRIGGER_RATIO = env.ratio("COMPRESSION_TRIGGER_RATIO", 0.75)
RECENT_MESSAGES_RATIO = env.ratio("RECENT_MESSAGES_RATIO", 0.2)
COMPRESSION_AHEAD = env.switch("COMPRESSION_AHEAD")
# Share of the history window at which a summary is written ahead of time.
COMPRESSION_AHEAD_RATIO = 0.6
COMPRESSION_MODEL = env.text("COMPRESSION_MODEL")
COMPRESSION_BACKOFF_S = env.constant("COMPRESSION_BACKOFF", 60)
LOG_FORMAT = env.one_of("LOG_FORMAT", ("text", "json"), "text")
LOGGING = logging_settings(LOG_FORMAT, env.one_of("LOG_LEVEL", LEVELS, "warning"), development=DEVELOPMENT)
# Python's warnings would be lines of text.
logging.captureWarnings(LOG_FORMAT == "json")
LOG_LLM_REQUESTS = env.switch("LOG_LLM_REQUESTS")
KEEP_REQUESTS_HOURS = env.whole_number("KEEP_REQUESTS_HOURS", 24, high=8_760)
TITLES = env.switch("TITLES", default=True)
SUGGESTIONS = env.texts("SUGGESTIONS", most=4, max_characters=200)
# Points at which fault tests kill or stop a process (chat/infrastructure/fault_points.py).
FAULT_POINTS = env.choices("FAULT_POINTS", ("kill", "stop"))
MAX_MESSAGE_CHARACTERS = 100_000

# --- Web ---------------------------------------------------------------------------------------------------

HOST = env.text("HOST", "127.0.0.1")
METRICS_TOKEN = env.text("METRICS_TOKEN")
PORT = env.whole_number("PORT", 8000, low=1, high=65_535)
# Whose X-Forwarded-For and X-Forwarded-Proto are believed (config/trusted_proxies.py).
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
MEDIA_ROOT = DATA_DIR / "media"
STORAGE_URL = env.text("STORAGE_URL")
STORAGES = {
    "default": storage_of("STORAGE_URL"),
    "staticfiles": {"BACKEND": "web.page.static_storage.HashedStaticFiles"},
}
MAX_IMPORT_BYTES = env.whole_number("MAX_IMPORT_BYTES", 256 * 1024 * 1024, low=1, high=2**31 - 1)
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "web.page.vendor.VendorFinder",
]
# While developing, files that nobody has collected (make run does at each start) are served from where they are.
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
SECURE_SSL_REDIRECT = not DEVELOPMENT and env.switch("SECURE_SSL_REDIRECT", default=HAS_TLS)
if not DEVELOPMENT:
    # Load balancers and Prometheus request these without the proxy that terminates TLS.
    SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    # Browsers keep no such cookie of an address without TLS: nobody could log in.
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HAS_TLS or SECURE_SSL_REDIRECT

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
    "DEFAULT_PARSER_CLASSES": ["web.rest.json_parser.StrictJSONParser"],
    "EXCEPTION_HANDLER": "web.rest.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "web.rest.openapi.Schema",
}
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
    "ENUM_NAME_OVERRIDES": ENUM_NAMES,
}
# The names of the variables read above: no row of a model may name one for its key.
OWN_VARIABLES = frozenset(env.NAMES_READ)
