"""Serving of static files. Names with a hash of the content are cached for good, others briefly and with validators."""

from urllib.parse import quote
from wsgiref.headers import Headers

from django.contrib.staticfiles.storage import staticfiles_storage
from servestatic.middleware import ServeStaticMiddleware


class StaticFiles(ServeStaticMiddleware):  # type: ignore[misc]  # untyped
    """Middleware that serves static files, also as compressed variants stored beside them (Accept-Encoding).

    Nothing else is compressed: the length of a compressed response with secrets would reveal them to whoever can have
    text put beside them.
    """

    def add_cache_headers(self, headers: Headers, path: str, url: str) -> None:
        super().add_cache_headers(headers, path, url)
        name = url.removeprefix(self.static_prefix)
        hashed_names: set[str] = getattr(staticfiles_storage, "hashed_names", set())
        if name in hashed_names:
            headers["Cache-Control"] = "public, max-age=31536000, immutable"
            # Weak, since the encodings share it. The library's ETag has the file's time, which differs between
            # machines.
            headers["ETag"] = f'W/"{quote(name)}"'
