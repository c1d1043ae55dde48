"""ApiDocument: an OpenAPI document, 3.0 and later, read from JSON or YAML, with its local references. Pure.

Anybody may have written it: it is bounded wherever it is read.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import yaml
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable

MAX_DOCUMENT_BYTES: Final = 4 * 1024 * 1024
# The C parser ends the process by a stack overflow at some 10,000.
_MAX_NESTING: Final = 100
# Members that mappings take over from others (`<<`), which can double with each line.
_MAX_MERGED: Final = 200_000
_MAX_HOPS: Final = 10
_MALFORMED: Final = (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError)


class DocumentRefused(Exception):
    """The document cannot be used. The message is one sentence, for staff."""


class ApiDocument:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        registry: Registry[Any] = Registry().with_resource("", Resource.opaque(root))
        self._resolver = registry.resolver()
        self._named: dict[str, Any] = {}

    def resolve(self, reference: str) -> Any:
        """Return the target of a reference; None: there is none, or it is outside of the document."""
        if reference not in self._named:
            self._named[reference] = self._look_up(reference)
        return self._named[reference]

    def read(self, value: Any) -> Mapping[str, Any]:
        """Return the object, or the object that it refers to; empty if there is none."""
        for _ in range(_MAX_HOPS):
            reference = value.get("$ref") if isinstance(value, dict) else None
            if not isinstance(reference, str):
                break
            value = self.resolve(reference)
        return value if isinstance(value, dict) else {}

    def _look_up(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        try:
            return self._resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, LookupError):
            return None


def read_document(content: bytes | str) -> ApiDocument:
    """Parse an OpenAPI document. Raises DocumentRefused."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentRefused("The document is not UTF-8.") from None
    root = _parse(text)
    if isinstance(root, dict) and "swagger" in root:
        version = str(root["swagger"])[:10]
        raise DocumentRefused(f"The document is of Swagger {version}; OpenAPI 3.0 or later is needed.")
    if not (isinstance(root, dict) and str(root.get("openapi", "")).startswith("3.")):
        raise DocumentRefused("This is no OpenAPI document of version 3.")
    return ApiDocument(root)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        _check_nesting(text)
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a subclass of the safe one
    except DocumentRefused:
        raise
    except _MALFORMED as error:
        mark = getattr(error, "problem_mark", None)
        place = f" (line {mark.line + 1})" if mark else ""
        raise DocumentRefused(f"The document is neither JSON nor YAML{place}.") from None


def _check_nesting(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_NESTING:
            raise DocumentRefused("The document is nested too deep.")


class _Loader(yaml.CSafeLoader):
    """Reads the core schema of YAML 1.2, in which `no` and `2026-01-01` are texts."""

    yaml_implicit_resolvers: dict[str, Any] = {}
    _merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        self._merged += len(node.value)
        if self._merged > _MAX_MERGED:
            raise DocumentRefused("The document is too large.")


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ("merge", "<<", ["<"]),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first)
