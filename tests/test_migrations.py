"""Migrations run beside traffic: none builds an index, checks rows or writes a table anew while it holds a lock on a large table."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations import operations as ops
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, ProjectState
from django.db.models import CheckConstraint, Field, Index, Q, UniqueConstraint
from django.db.models import fields as columns

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout

pytestmark = [pytest.mark.documents]

OURS = ("chat", "knowledge")
# A row per model, group, rule or entry of staff: locked for milliseconds whatever is done to them.
SMALL = {
    "agent", "defaultlimits", "embeddingmodel", "grouplimits", "invitation", "mcpserver", "modelconfig", "promptversion", "provider", "sweeperlease",
    "systemprompt", "toolpolicy",
}  # fmt: skip
CONCURRENT = (AddIndexConcurrently, RemoveIndexConcurrently)
NOT_VALID = "AddConstraintNotValid, and ValidateConstraint in a migration with atomic = False"
UNIQUE = "builds an index; build it with AddMissingIndex, then ADD CONSTRAINT … USING INDEX"
WAITS = remove_lock_timeout().sql


def problems(migration: Migration, state: ProjectState) -> list[str]:
    """What it does to tables that are there and may be large. state: before it; is changed to after it."""
    found: list[str] = []
    new, waits = set(SMALL), False
    for operation in migration.operations:
        before = state.clone()
        operation.state_forwards(migration.app_label, state)
        if isinstance(operation, ops.CreateModel):
            new.add(operation.name_lower)
        if isinstance(operation, ops.RunSQL) and "lock_timeout" in str(operation.sql):
            waits = operation.sql == WAITS
        if isinstance(operation, CONCURRENT) and not waits:
            found.append(f"{operation.describe()}: between remove_lock_timeout() and restore_lock_timeout()")
        if getattr(operation, "model_name_lower", "") not in new:
            found += _problems_of(operation, before, state, migration)
    return [*found, *(["ends without restore_lock_timeout()"] if waits else [])]


def _problems_of(
    operation: Any, before: ProjectState, after: ProjectState, migration: Migration
) -> Iterator[str]:
    what = operation.describe()
    match operation:
        case AddIndexConcurrently() | AddConstraintNotValid():
            pass
        case ops.AddIndex():
            yield f"{what}: AddMissingIndex, in a migration with atomic = False"
        case ops.AddConstraint(constraint=constraint):
            is_check = isinstance(constraint, CheckConstraint)
            yield f"{what}: {NOT_VALID if is_check else UNIQUE}"
        case ValidateConstraint() if migration.atomic:
            yield f"{what}: in a migration with atomic = False"
        case ops.AddField(field=field) if field.unique or getattr(field, "db_index", False):
            yield f"{what}: builds an index; db_index=False, and AddMissingIndex"
        case ops.AddField(field=columns.generated.GeneratedField()):
            yield f"{what}: writes the table anew"
        case ops.AlterField() if _is_rewritten(operation, before, after, migration.app_label):
            yield f"{what}: writes the table anew, or reads it whole under a lock"


def _is_rewritten(operation: Any, before: ProjectState, after: ProjectState, app: str) -> bool:
    """Whether Postgres changes more than its catalogue: another type but for a longer text, or NOT NULL."""
    old, new = (_column(state, app, operation) for state in (before, after))
    grows = {"varchar", "text"}
    old_type, new_type = (one.db_type(connection) or "" for one in (old, new))
    is_longer = {old_type.partition("(")[0], new_type.partition("(")[0]} <= grows and (
        new_type == "text" or (new.max_length or 0) >= (old.max_length or 0)
    )
    is_retyped = old_type != new_type and not is_longer
    return is_retyped or (old.null and not new.null)


def _column(state: ProjectState, app: str, operation: Any) -> "Field[Any, Any]":
    field: Field[Any, Any] = state.apps.get_model(app, operation.model_name)._meta.get_field(operation.name)
    return field


def loaded() -> Iterator[tuple[Migration, list[str]]]:
    loader = MigrationLoader(None)
    state = ProjectState()
    plan = [key for leaf in loader.graph.leaf_nodes() for key in loader.graph.forwards_plan(leaf)]
    for key in dict.fromkeys(plan):
        migration = loader.graph.nodes[key]
        if key[0] in OURS:
            yield migration, problems(migration, state)
        else:
            migration.mutate_state(state, preserve=False)


def test_no_migration_holds_traffic_up() -> None:
    assert {str(migration): faults for migration, faults in loaded() if faults} == {}


def _migration(*operations: Any, atomic: bool = True) -> Migration:
    members = {"operations": list(operations), "atomic": atomic}
    return type("Migration", (Migration,), members)("1", "chat")  # type: ignore[no-any-return]


INDEX = Index(fields=["number"], name="thing_by_number")
CHECK = CheckConstraint(condition=Q(number__gt=0), name="thing_is_positive")
BUILT = AddMissingIndex("thing", INDEX)


@pytest.mark.parametrize(
    ("migration", "said"),
    [
        (_migration(ops.AddIndex("thing", INDEX)), "AddMissingIndex"),
        (_migration(BUILT, atomic=False), "between remove_lock_timeout() and restore_lock_timeout()"),
        (_migration(remove_lock_timeout(), BUILT, atomic=False), "ends without restore_lock_timeout()"),
        (_migration(ops.AddConstraint("thing", CHECK)), "AddConstraintNotValid"),
        (
            _migration(AddConstraintNotValid("thing", CHECK), ValidateConstraint("thing", CHECK.name)),
            "atomic = False",
        ),
        (
            _migration(ops.AddConstraint("thing", UniqueConstraint(fields=["number"], name="one_thing"))),
            "USING INDEX",
        ),
        (
            _migration(ops.AddField("thing", "other", columns.IntegerField(null=True, db_index=True))),
            "builds an index",
        ),
        (
            _migration(ops.AlterField("thing", "number", columns.BigIntegerField(null=True))),
            "writes the table anew",
        ),
        (_migration(ops.AlterField("thing", "number", columns.IntegerField())), "reads it whole"),
        (
            _migration(ops.AlterField("thing", "name", columns.CharField(max_length=10))),
            "writes the table anew",
        ),
    ],
)
def test_what_holds_traffic_up_is_found(migration: Migration, said: str) -> None:
    [problem] = problems(migration, _state())
    assert said in problem


@pytest.mark.parametrize(
    "migration",
    [
        _migration(remove_lock_timeout(), BUILT, restore_lock_timeout(), atomic=False),
        _migration(AddConstraintNotValid("thing", CHECK)),
        _migration(ops.AddField("thing", "other", columns.IntegerField(default=0, db_default=0))),
        _migration(ops.AlterField("thing", "name", columns.CharField(max_length=30))),
        _migration(ops.AlterField("thing", "name", columns.TextField())),
        _migration(ops.CreateModel("other", [("id", columns.IntegerField(primary_key=True))]), ops.AddIndex("other", Index(fields=["id"], name="a"))),
    ],
)  # fmt: skip
def test_what_does_not_hold_it_up_is_allowed(migration: Migration) -> None:
    assert problems(migration, _state()) == []


def _state() -> ProjectState:
    state = ProjectState()
    number, name = columns.IntegerField(null=True), columns.CharField(max_length=20)
    fields: list[tuple[str, Any]] = [
        ("id", columns.IntegerField(primary_key=True)),
        ("number", number),
        ("name", name),
    ]
    state.add_model(ModelState("chat", "Thing", fields))
    return state
