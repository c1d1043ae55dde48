"""Functions that read, validate and describe environment variables; config/variables.py calls them.

A value comes from the process environment, else from the file the launcher stores in DATA_DIR (so that `manage.py` in a
second shell finds the running embedded services), else from the default. An invalid value ends the process with a
one-line error that names the variable, and exit status 78 (EX_CONFIG of sysexits.h).
"""

import json
import os
import re
import sys
from collections.abc import Collection, Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import urlsplit

import msgspec

from config.installation import default_data_dir

EX_CONFIG = 78
STORE_NAME = "environment.json"
DEFAULT_CONTEXT_WINDOW = 128_000
# A smaller window has no room for a system prompt and an answer.
SMALLEST_CONTEXT_WINDOW = 512


def fail(name: str, problem: str) -> NoReturn:
    """Write one line to stderr and exit with status 78."""
    sys.stderr.write(f"{name}: {problem}\n")
    raise SystemExit(EX_CONFIG)


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, for a message of one line; its name if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


# Variables of the last release that are read no more -> what holds instead.
NO_LONGER_READ: Final = {
    "APPROVAL_HOURS": "a tool call waits 72 hours for its user",
    **dict.fromkeys(
        (
            "EMAIL_HOST",
            "EMAIL_PORT",
            "EMAIL_HOST_USER",
            "EMAIL_HOST_PASSWORD",
            "EMAIL_USE_TLS",
            "EMAIL_USE_SSL",
        ),
        "EMAIL_URL names the server: smtp://user:password@mail.example.org:587",
    ),
    "COMPRESSION_TRIGGER_RATIO": "a history is summarised above 0.75 of its window",
    "LLM_SILENCE": "it is a third of RUN_DEADLINE",
    "MAX_CHUNKS_PER_USER": "it grows with MAX_STORED_BYTES_PER_USER",
    "MAX_COST_PER_DAY": "enter its value in the admin (Default limits, Cost per day); until then there is no limit",
    "MAX_FILES_PER_USER": "it grows with MAX_STORED_BYTES_PER_USER",
    "MAX_IMPORT_BYTES": "it is 256 MiB, or ten times MAX_FILE_BYTES if that is more",
    "MAX_QUEUED_RUNS": "1,000 runs may wait in a queue",
    "MAX_RUNS_PER_DAY": "enter its value in the admin (Default limits, Runs per day); until then there is no limit",
    "MAX_SESSIONS_PER_USER": "a user may have 10,000 chats",
    "MAX_TOKENS_PER_DAY": "enter its value in the admin (Default limits, Tokens per day); until then there is no limit",
    "PREPARE_STATEMENTS": "statements are prepared unless STATEMENT_TIMEOUT=0",
    "RECENT_MESSAGES_RATIO": "0.2 of the history stays verbatim",
    "SECURE_SSL_REDIRECT": "HTTP is redirected to HTTPS unless PUBLIC_URL begins with http://",
    "TLS_CA_FILE": "REDIS_URL and CELERY_BROKER_URL name the file: rediss://…?ssl_ca_certs=/etc/ssl/own.pem",
    "TOOL_TIMEOUT": "it grows with RUN_DEADLINE: 120 of 900 seconds",
    "WEB_SEARCH_SERVICE": "WEB_SEARCH_URL=brave or WEB_SEARCH_URL=tavily chooses the service",
    "SUGGESTIONS": "enter them in the admin (Suggestions)",
}


def refuse_vanished() -> None:
    """End the process if a variable is set that is no longer read."""
    for name, instead in NO_LONGER_READ.items():
        if text(name):
            fail(name, f"is no longer read: {instead}. Remove the variable")


def data_dir() -> Path:
    """Return the absolute path of DATA_DIR, or its default (installation.py)."""
    return Path(os.environ.get("DATA_DIR") or default_data_dir()).absolute()


def read_stored(directory: Path) -> dict[str, str]:
    """Read the variables that the launcher stored for commands with this DATA_DIR; empty before the first start."""
    try:
        values = json.loads((directory / STORE_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        fail("DATA_DIR", f"{directory / STORE_NAME} cannot be read ({error})")
    return {str(name): str(value) for name, value in values.items()}


_STORED = read_stored(data_dir())
# As the launcher decides: whoever sets one of these runs an instance of their own, with DEBUG only if they ask for it.
# The DEBUG of an earlier `make run` with the same DATA_DIR must not open the demo account there.
if any(os.environ.get(name) for name in ("SECRET_KEY", "ALLOWED_HOSTS")):
    _STORED.pop("DEBUG", None)


def store(directory: Path, values: Mapping[str, str]) -> None:
    """Store variables for later commands with this DATA_DIR. The file is private, since values contain secrets."""
    part = directory / f"{STORE_NAME}.part"
    part.touch(mode=0o600)
    part.write_text(json.dumps(dict(values), indent=1), encoding="utf-8")
    part.replace(directory / STORE_NAME)


def delete_stored(directory: Path) -> None:
    """Delete the variables of an earlier start, in the file and in this process."""
    (directory / STORE_NAME).unlink(missing_ok=True)
    _STORED.clear()


class Variable(msgspec.Struct, frozen=True):
    """A variable that operators set, as a row of docs/configuration.md."""

    name: str
    #: What a value may be, in a few words: its type and bounds.
    values: str
    #: What holds without the variable; empty: nothing, or what `meaning` says.
    default: str
    meaning: str


# The variables of each section of docs/configuration.md.
SECTIONS: dict[str, list[Variable]] = {}
# The names of all variables that were read.
NAMES_READ: set[str] = {"DATA_DIR"}


def section(title: str) -> None:
    """Begin the section of the variables that are read next."""
    SECTIONS[title] = []


def describe(name: str, meaning: str, *, default: str = "", values: str = "text") -> None:
    """Add a variable to the section that was begun last."""
    next(reversed(SECTIONS.values())).append(Variable(name, values, default, meaning))


# As long as 24 random bytes in base64: a shorter secret was probably typed.
LEAST_SECRET_CHARACTERS = 32


def text(name: str, default: str = "", meaning: str = "", *, values: str = "text") -> str:
    """Read a text. Every reader adds the variable to the documents if it has a meaning."""
    NAMES_READ.add(name)
    if meaning:
        describe(name, meaning, default=default, values=values)
    return os.environ.get(name) or _STORED.get(name) or default


def whole_number(name: str, default: int, meaning: str = "", *, low: int = 0, high: int = 10**9) -> int:
    value = text(name, str(default), meaning, values=f"{low} to {high}" if high < 10**9 else f"from {low}")
    if not (value.isascii() and value.isdecimal() and low <= int(value) <= high):
        fail(name, f"{value!r} is not a whole number from {low} to {high}")
    return int(value)


def switch(name: str, meaning: str = "", *, default: bool = False) -> bool:
    value = text(name, "1" if default else "0", meaning, values="switch").lower()
    if value not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        fail(name, f"{value!r} is not one of 1, 0, true, false, yes, no, on, off")
    return value in ("1", "true", "yes", "on")


def url(name: str, meaning: str = "", *, schemes: tuple[str, ...], words: tuple[str, ...] = ()) -> str:
    """Read a URL with one of these schemes, or one of these words; empty if the variable is not set."""
    value = text(name, "", meaning, values=", ".join(["address", *(f"`{word}`" for word in words)]))
    if value and value not in words and not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
        # The value may contain a password, so it is not printed.
        starts = " or ".join(f"{scheme}://" for scheme in schemes)
        fail(name, " or ".join([f"is not an address that starts with {starts}", *words]))
    return value


def origin(name: str, meaning: str = "", *, of_others: Collection[str]) -> str:
    """Read the origin (`https://name`, with or without a port) of a host that is not in `of_others`; may be empty."""
    value = text(name, "", meaning, values="origin").lower().removesuffix("/")
    if value and not re.fullmatch(r"https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?", value):
        fail(name, f"{value!r} is not an origin such as https://preview.example.org")
    if value and host_of(value) in of_others:
        fail(
            name, f"{host_of(value)} is in ALLOWED_HOSTS: choose a host of its own, and do not name it there"
        )
    return value


def secret(name: str, meaning: str = "", *, insecure_default: str) -> str:
    """Read a secret, which must be long enough not to be guessed.
    insecure_default: of an instance with DEBUG, where any value will do; empty without DEBUG.
    """
    value = text(name, "", meaning, values=f"{LEAST_SECRET_CHARACTERS} characters or more")
    if insecure_default:
        return value or insecure_default
    if not value:
        fail(name, "is required unless DEBUG=1")
    if len(value) < LEAST_SECRET_CHARACTERS:
        # The value is not printed.
        fail(
            name,
            f"has {len(value)} characters, {LEAST_SECRET_CHARACTERS} are required: make one with"
            " python3 -c 'import secrets; print(secrets.token_urlsafe(48))'",
        )
    return value


def are_loopback(names: Collection[str]) -> bool:
    """Return whether these names of ALLOWED_HOSTS mean the machine itself, whoever looks them up."""
    return all(re.fullmatch(r"(.*\.)?localhost|127(\.\d{1,3}){3}|\[::1\]", name.lower()) for name in names)


def host_of(address: str) -> str:
    """Return the host name of an address, without the port."""
    return urlsplit(address).hostname or ""


def urls(name: str, meaning: str = "", *, schemes: tuple[str, ...]) -> list[str]:
    """Read a comma-separated list of addresses with one of these schemes."""
    values = names(name, "", meaning, values="addresses")
    for value in values:
        if not re.match(rf"({'|'.join(schemes)})://[^/@?#\s]+", value):
            fail(
                name,
                f"{value!r} is not an address that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}",
            )
    return values


def names(name: str, default: str = "", meaning: str = "", *, values: str = "list") -> list[str]:
    """Read a comma-separated list in its order, without empty entries."""
    return [part.strip() for part in text(name, default, meaning, values=values).split(",") if part.strip()]


def secret_keys(name: str, meaning: str = "") -> list[str]:
    """Read a comma-separated list of keys: 32 bytes each, in base64."""
    keys = names(name, "", meaning, values="list of 32 bytes in base64 each")
    for key in keys:
        plain = key.rstrip("=")
        # The values are secret, so they are not printed.
        if len(plain) != 43 or not re.fullmatch(r"[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]", plain):
            fail(
                name, "is not a list of keys of 32 bytes in base64, such as `openssl rand -base64 32` prints"
            )
    return keys


def networks(name: str, meaning: str = "") -> list[str]:
    """Read a comma-separated list of IP addresses and networks (`10.0.0.0/8`)."""
    entries = names(name, "", meaning, values="list of addresses and networks")
    for entry in entries:
        try:
            ip_network(entry)
        except ValueError:
            fail(name, f"{entry!r} is not an IP address or a network such as 10.0.0.0/8")
    return entries


def hosts(name: str, meaning: str = "") -> frozenset[str]:
    """Read a comma-separated list of host names or addresses, each with or without a port; in lower case."""
    entries = [entry.lower() for entry in names(name, "", meaning, values="list of `host[:port]`")]
    for entry in entries:
        host, _, port = entry.rpartition(":") if re.search(r":[0-9]+$", entry) else (entry, "", "")
        if not re.fullmatch(r"[\w.-]+|\[[0-9a-f:.]+\]", host) or int(port or 0) > 65_535:
            fail(
                name,
                f"{entry!r} is not a host such as wiki.example.org, or one with a port such as 10.0.0.5:8080",
            )
    return frozenset(entries)


def one_of(name: str, allowed: Collection[str], default: str, meaning: str = "") -> str:
    """Read one of these words."""
    value = text(name, default, meaning, values=", ".join(f"`{word}`" for word in allowed))
    if value not in allowed:
        fail(name, f"{value!r} is not one of {', '.join(sorted(allowed))}")
    return value


def choices(name: str, allowed: Collection[str]) -> dict[str, str]:
    """Read comma-separated pairs `key=value`; each value is one of `allowed`."""
    pairs = dict(part.partition("=")[::2] for part in names(name))
    for value in pairs.values():
        if value not in allowed:
            fail(name, f"{value!r} is not one of {', '.join(sorted(allowed))}")
    return pairs


def models(name: str, meaning: str = "") -> dict[str, int]:
    """Parse a list of `name[:context_window]`. Returns model name -> tokens, in the order of the list.

    Model names may contain colons (`llama3:8b`): only a whole number after the last one is a context window.
    """
    found: dict[str, int] = {}
    for entry in names(name, "", meaning, values="list of `name[:context_window]`"):
        head, colon, tail = entry.rpartition(":")
        window = colon and tail.isascii() and tail.isdecimal()
        model, tokens = (head, int(tail)) if window else (entry, DEFAULT_CONTEXT_WINDOW)
        if not model or model in found or not SMALLEST_CONTEXT_WINDOW <= tokens <= 10**8:
            fail(
                name,
                f"{entry!r} is not name[:context_window in tokens, at least {SMALLEST_CONTEXT_WINDOW}], each name once",
            )
        found[model] = tokens
    return found
