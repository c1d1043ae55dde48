"""The storage of uploaded files: a folder of DATA_DIR, or the bucket of an S3-compatible server (STORAGE_URL)."""

import re
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from config import environment as env

_FOLDER: Final = {
    "BACKEND": "knowledge.files.folder_storage.FolderStorage",
    "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
}
_BUCKET: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,61}[a-zA-Z0-9]")
_STYLES: Final = ("path", "virtual", "auto")
_OPTIONS: Final = ("endpoint_url", "region", "addressing_style")


def storage_of(name: str) -> dict[str, Any]:
    """Build the default entry of STORAGES.

    name: the variable with s3://[KEY:SECRET@]BUCKET[/PREFIX][?OPTIONS], or empty. Without credentials in the address,
    the standard variables (AWS_ACCESS_KEY_ID …), profiles and roles apply.
    """
    url = env.text(name)
    if not url:
        return _FOLDER
    try:
        address = urlsplit(url)
        options = _checked_options(name, dict(parse_qsl(address.query, strict_parsing=bool(address.query))))
    except ValueError:
        env.fail(name, "is not an address such as s3://bucket/prefix?endpoint_url=https://example.org")
    bucket = address.netloc.rpartition("@")[2]
    if address.scheme != "s3" or not _BUCKET.fullmatch(bucket) or address.fragment:
        # The value may contain a password, so it is not printed.
        env.fail(name, "is not an address such as s3://bucket/prefix?endpoint_url=https://example.org")
    return {
        "BACKEND": "knowledge.files.object_storage.ObjectStorage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": unquote(address.path).strip("/"),
            "endpoint_url": options.get("endpoint_url"),
            "region_name": options.get("region"),
            # The name of a bucket is rarely part of a host name, except at AWS.
            "addressing_style": options.get(
                "addressing_style", "path" if "endpoint_url" in options else "auto"
            ),
            **_credentials(name, address),
        },
    }


def _checked_options(name: str, options: dict[str, str]) -> dict[str, str]:
    for option in options:
        if option not in _OPTIONS:
            env.fail(name, f"has the unknown option {option!r}; there are {', '.join(_OPTIONS)}")
    if not re.match(r"https?://[^/\s]", options.get("endpoint_url", "https://x")):
        env.fail(name, "has an endpoint_url that does not start with http:// or https://")
    if options.get("addressing_style", "path") not in _STYLES:
        env.fail(name, f"has an addressing_style that is not one of {', '.join(_STYLES)}")
    return options


def _credentials(name: str, address: SplitResult) -> dict[str, str | None]:
    if not address.username and not address.password:
        return {}
    if not (address.username and address.password):
        env.fail(name, "has only one of key and secret: s3://KEY:SECRET@bucket")
    return {
        "access_key": unquote(address.username),
        "secret_key": unquote(address.password),
        # The token of the environment belongs to other keys.
        "security_token": None,
    }
