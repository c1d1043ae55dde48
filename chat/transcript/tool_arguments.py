"""Checks the arguments of a tool call against the tool's JSON Schema. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend
from referencing import Registry


def _skip(*_: object) -> Iterator[ValidationError]:
    return iter(())


# Schemas may come from servers, whose own check counts: keywords that can take exponential time are left to it.
_SKIPPED: Final = ("pattern", "patternProperties", "$ref", "$dynamicRef")
_Validator: Final[Any] = extend(Draft202012Validator, dict.fromkeys(_SKIPPED, _skip))  # type: ignore[no-untyped-call]


def first_violation(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> ValidationError | None:
    """Return the most telling violation; None: the arguments match, or the schema is bad. parameters: the schema."""
    # An empty registry, so that a schema cannot make the validator fetch another one.
    validator = _Validator(dict(parameters), registry=Registry())
    try:
        violation: ValidationError | None = best_match(validator.iter_errors(dict(arguments)))
    except Exception:  # noqa: BLE001  jsonschema raises whatever a malformed schema leads to
        return None
    return violation
