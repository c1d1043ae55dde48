"""Function tools of a request, in both shapes of OpenAI's APIs. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, json

from chat.protocol.errors import ApiError
from chat.transcript.waits import ANY, CallerFunction, CallerTools
from features.openai.conversation import FUNCTION_NAME, NAME_RULE
from features.openai.errors import inside

MAX_TOOLS: Final = 128
MAX_DESCRIPTION_CHARACTERS: Final = 4_000
# Of all schemas together, as JSON.
MAX_SCHEMA_BYTES: Final = 256_000
_NO_PARAMETERS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


def parse_tools(tools: list[Any], *, is_nested: bool) -> list[CallerFunction]:
    """Parse the tools. is_nested: the function is in a member of its own. Raises ApiError."""
    functions: list[CallerFunction] = []
    for place, tool in enumerate(tools):
        with inside(place):
            if not isinstance(tool, dict):
                raise ApiError("invalid_type", "Expected an object.")
            if tool.get("type") != "function":
                message = "Only functions are accepted. The tools of an agent are chosen with the agent."
                raise ApiError("invalid_value", message, field="type")
            if is_nested:
                with inside("function"):
                    functions.append(parse_function(tool.get("function")))
            else:
                functions.append(parse_function(tool))
    check_functions(functions)
    return functions


def check_functions(functions: Sequence[CallerFunction]) -> None:
    """Check what the functions are together. Raises ApiError."""
    if len(functions) > MAX_TOOLS:
        raise ApiError("invalid_value", f"At most {MAX_TOOLS} tools.")
    if len({function.name for function in functions}) < len(functions):
        raise ApiError("invalid_value", "Every function has a name of its own.")
    if sum(len(json.encode(function.parameters)) for function in functions) > MAX_SCHEMA_BYTES:
        raise ApiError("invalid_value", f"The schemas have at most {MAX_SCHEMA_BYTES} bytes together.")


def parse_function(function: Any) -> CallerFunction:
    """Parse a function: `name`, `description`, `parameters`, `strict`. Raises ApiError."""
    if not isinstance(function, dict):
        raise ApiError("invalid_type", "Expected an object.")
    name, description = function.get("name"), function.get("description") or ""
    parameters, strict = function.get("parameters") or _NO_PARAMETERS, function.get("strict")
    if not isinstance(name, str) or not FUNCTION_NAME.fullmatch(name):
        raise ApiError("invalid_value", NAME_RULE, field="name")
    if not isinstance(description, str) or len(description) > MAX_DESCRIPTION_CHARACTERS:
        message = f"A text of at most {MAX_DESCRIPTION_CHARACTERS} characters."
        raise ApiError("invalid_value", message, field="description")
    if not isinstance(parameters, dict) or parameters.get("type", "object") != "object":
        raise ApiError("invalid_value", "A JSON Schema of an object.", field="parameters")
    if not isinstance(strict, bool | None):
        raise ApiError("invalid_type", "Expected a boolean.", field="strict")
    return CallerFunction(name, description, parameters, strict)


def choose_tools(functions: Sequence[CallerFunction] | Any, choice: Any) -> CallerTools:
    """Return the tools that the model gets. choice: the member `tool_choice`. Raises ApiError."""
    if functions is UNSET or not functions:
        return CallerTools()
    if choice in (None, UNSET, "auto"):
        return CallerTools(functions)
    if choice == "none":
        return CallerTools()
    if choice == "required":
        return CallerTools(functions, ANY)
    name = None
    if isinstance(choice, dict) and choice.get("type") == "function":
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
    if name not in [function.name for function in functions]:
        message = "One of auto, none, required, or a function of tools."
        raise ApiError("invalid_value", message, field="tool_choice")
    return CallerTools(functions, name)
