"""Checks the arguments of a tool call against the tool's JSON Schema. Pure."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry


def first_violation(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> ValidationError | None:
    """The violation that tells most; None: the arguments match. parameters: the schema."""
    # An empty registry, so that a schema cannot make the validator fetch another one.
    validator = Draft202012Validator(dict(parameters), registry=Registry())
    violation: ValidationError | None = best_match(validator.iter_errors(dict(arguments)))
    return violation
