"""StructField: a column of JSON whose value in Python is a msgspec Struct."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django.db import models
from django.db.models import Func, Value
from django.db.models.functions import Coalesce
from django.db.models.query_utils import DeferredAttribute
from msgspec import Struct, convert, to_builtins


class _StructAttribute(DeferredAttribute):
    """Converts the JSON of a row when it is first used: most rows that are read are not asked for it."""

    field: "StructField"

    def __get__(self, instance: models.Model | None, cls: Any = None) -> Any:
        value = super().__get__(instance, cls)
        if instance is None or isinstance(value, Struct):
            return value
        struct = instance.__dict__[self.field.attname] = convert(
            {} if value is None else value, self.field.struct
        )
        return struct

    def __set__(self, instance: models.Model, value: Any) -> None:
        instance.__dict__[self.field.attname] = value


class StructEncoder(json.JSONEncoder):
    def default(self, value: Any) -> Any:
        return to_builtins(value)


class StructField(models.JSONField):
    """NULL is read as a Struct of defaults. struct: it must not forbid unknown fields, which later versions may store."""

    descriptor_class = _StructAttribute

    _SET: Final = ("null", "blank", "default", "encoder")

    def __init__(self, struct: type[Struct], **options: Any) -> None:
        self.struct = struct
        super().__init__(null=True, blank=True, default=struct, encoder=StructEncoder, **options)

    def deconstruct(self) -> Any:
        name, path, _, options = super().deconstruct()
        return name, path, [self.struct], {key: options[key] for key in options if key not in self._SET}


class Merged(Func):
    """The value of a StructField with these members changed. Merged by the database: all other members stay as they are
    stored, also those that this version does not know."""

    template = "%(expressions)s"
    arg_joiner = " || "

    def __init__(self, field: str, changes: Mapping[str, Any]) -> None:
        column = models.JSONField(encoder=StructEncoder)
        super().__init__(
            Coalesce(field, Value({}, column)), Value(dict(changes), column), output_field=column
        )
