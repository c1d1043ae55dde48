"""Django settings, read from environment variables; the README lists them.

Other modules read `django.conf.settings`, never the environment.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dj_database_url
import django_stubs_ext
from csp.constants import NONCE, NONE, SELF

from config import environment as env
from config.postgres.pool import retry_for_waiting

# Makes Django's generic classes (ModelAdmin[Session]) subscriptable at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.data_dir()

# --- Django -----------------------------------------------------------------------------------------------

DEBUG = env.switch("DEBUG")
SECRET_KEY = env.text("SECRET_KEY")
if not SECRET_KEY:
    if not DEBUG:
        env.fail("SECRET_KEY", "is required unless DEBUG=1")
    SECRET_KEY = "only-for-debug-and-never-kept"  # noqa: S105  make run generates and keeps a real one
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]" if DEBUG else "")
if not ALLOWED_HOSTS:
    env.fail("ALLOWED_HOSTS", "is required unless DEBUG=1")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "axes",
    "csp",
    "servestatic",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
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
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "web.page.languages.Languages",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
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
            ]
        },
    }
]
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
# One year, for the language chosen on the page's settings dialog.
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = "UTC"
FORMAT_MODULE_PATH = ["web.formats"]
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"

# --- Postgres: no connection is held while streaming, so a small pool serves many runs ---------------------

DATABASE_URL = env.url("DATABASE_URL", "postgresql://localhost/turnwire", schemes=("postgres", "postgresql"))
DATABASES: dict[str, Any] = {"default": dj_database_url.parse(DATABASE_URL)}
DATABASES["default"]["ENGINE"] = "config.postgres"
DATABASES["default"].setdefault("OPTIONS", {})
DATABASES["default"]["OPTIONS"] |= {
    # Short reconnect_timeout: during an outage callers retry, and the pool connects on demand. With the default of 5
    # minutes the pool's back-off doubles, and it reconnects long after Postgres is available again.
    "pool": {
        "min_size": 1,
        "max_size": 20,
        "timeout": 5,
        "reconnect_timeout": 2,
        "reconnect_failed": retry_for_waiting,
    },
    "connect_timeout": 5,
}
# After a restart of Postgres the pool's connections are dead; Django's health check detects it.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Whether the statements of every turn are prepared (chat/models/sql/statements.py). Switch it off behind a pooler that does
# not support prepared statements.
PREPARE_STATEMENTS = env.switch("PREPARE_STATEMENTS", default=True)

# --- Redis and Celery --------------------------------------------------------------------------------------

REDIS_URL = env.url("REDIS_URL", "redis://localhost:6379/0", schemes=("redis", "rediss", "unix"))
CELERY_BROKER_URL = env.url(
    "CELERY_BROKER_URL", REDIS_URL, schemes=("redis", "rediss", "amqp", "amqps", "unix")
)
LLM_CONCURRENCY = env.whole_number("LLM_CONCURRENCY", 200, low=1, high=10_000)
LLM_WORKERS = env.whole_number("LLM_WORKERS", 2, low=1, high=64)

# --- Turns -------------------------------------------------------------------------------------------------

LLM_BASE_URL = env.url("LLM_BASE_URL", "", schemes=("http", "https"))
LLM_MODELS = env.models("LLM_MODELS")
LLM_SILENCE_S = env.whole_number("LLM_SILENCE", 300, low=1, high=86_400)
MAX_LLM_CYCLES = env.whole_number("MAX_LLM_CYCLES", 6, low=1, high=100)
MAX_RUNS_PER_USER = env.whole_number("MAX_RUNS_PER_USER", 50, low=1)
MAX_QUEUED_RUNS = env.whole_number("MAX_QUEUED_RUNS", 1000, low=1)
TOOL_TIMEOUT_S = env.whole_number("TOOL_TIMEOUT", 120, low=1, high=3_600)
WEB_SEARCH_URL = env.url("WEB_SEARCH_URL", "", schemes=("http", "https"))
RUN_DEADLINE_S = env.whole_number("RUN_DEADLINE", 900, low=1, high=86_400)
DRAIN_GRACE_S = env.whole_number("DRAIN_GRACE", 20, high=3_600)
COMPRESSION_TRIGGER_RATIO = env.ratio("COMPRESSION_TRIGGER_RATIO", 0.75)
RECENT_MESSAGES_RATIO = env.ratio("RECENT_MESSAGES_RATIO", 0.2)
COMPRESSION_AHEAD = env.switch("COMPRESSION_AHEAD")
# Share of the history window at which a summary is written ahead of time.
COMPRESSION_AHEAD_RATIO = 0.6
COMPRESSION_MODEL = env.text("COMPRESSION_MODEL")
COMPRESSION_BACKOFF_S = env.whole_number("COMPRESSION_BACKOFF", 60, low=1, high=86_400)
LOG_LLM_REQUESTS = env.switch("LOG_LLM_REQUESTS")
KEEP_REQUESTS_HOURS = env.whole_number("KEEP_REQUESTS_HOURS", 24, high=8_760)
TITLES = env.switch("TITLES", default=True)
# Points at which fault tests kill or stop a process (chat/infrastructure/fault_points.py).
FAULT_POINTS = env.choices("FAULT_POINTS", ("kill", "stop"))
MAX_MESSAGE_CHARACTERS = 100_000

# --- Web ---------------------------------------------------------------------------------------------------

HOST = env.text("HOST", "127.0.0.1")
PORT = env.whole_number("PORT", 8000, low=1, high=65_535)
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
# Uploaded files.
MEDIA_ROOT = DATA_DIR / "media"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "web.page.vendor.VendorFinder",
]
SERVESTATIC_USE_FINDERS = DEBUG
SERVESTATIC_ALLOW_ALL_ORIGINS = False
# With autorefresh, every request would look the file up in a thread.
SERVESTATIC_AUTOREFRESH = False
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
if not DEBUG:
    SECURE_SSL_REDIRECT = env.switch("SECURE_SSL_REDIRECT", default=True)
    # Load balancers and Prometheus request these without the proxy that terminates TLS.
    SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

# Failed logins are counted per user name and address in Postgres (docs/decisions/0011-login-throttle.md). A successful
# login resets the count, and attempts during the lockout do not prolong it.
AXES_HANDLER = "axes.handlers.database.AxesDatabaseHandler"
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=1)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "web.rest.login_lockout.lockout_response"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "web.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["web.rest.json_parser.StrictJSONParser"],
    "EXCEPTION_HANDLER": "web.rest.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
REST_KNOX = {"TOKEN_TTL": None, "AUTH_HEADER_PREFIX": "Token"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Turnwire",
    "VERSION": "0.1.0",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/",
    # Served from our own origin; the page needs no inline script and no inline style.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "web.rest.response_schemas.STATUSES",
        "ToolCallStatus": "web.rest.response_schemas.CALL_STATUSES",
    },
}
