"""RunOptionsFields: the options of a run, and the rule that the database keeps about options."""

from typing import Final

from django.db import models
from django.db.models import F, Func, Value

from chat.transcript.answer_settings import MOST_TEMPERATURE, OPTION_NAMES

NO_OPTIONS: Final = Value({}, output_field=models.JSONField())
_NAMES: Final = ", ".join(OPTION_NAMES)


class AreOptions(Func):
    """Whether a JSON value is an object of known options with numbers that any model may have."""

    template = (
        "CASE WHEN jsonb_typeof(%(expressions)s) = 'object' THEN "
        f"%(expressions)s - '{{{_NAMES}}}'::text[] = '{{}}'::jsonb "
        f"AND COALESCE((%(expressions)s ->> 'temperature')::numeric BETWEEN 0 AND {MOST_TEMPERATURE}, TRUE) "
        "AND COALESCE((%(expressions)s ->> 'top_p')::numeric BETWEEN 0 AND 1, TRUE) "
        "AND COALESCE((%(expressions)s ->> 'max_output_tokens')::numeric >= 1, TRUE) ELSE FALSE END"
    )
    output_field = models.BooleanField()


def options_are_known(table: str) -> models.CheckConstraint:
    """Return the constraint on the column `options` of this table."""
    return models.CheckConstraint(condition=AreOptions(F("options")), name=f"{table}_options_known")


class RunOptionsFields(models.Model):
    """options: the turn's options over those of its session and its agent, decided when the turn starts."""

    options = models.JSONField(default=dict, db_default=NO_OPTIONS, blank=True)

    class Meta:
        abstract = True
