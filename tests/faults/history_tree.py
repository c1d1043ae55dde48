"""I9 of a history: per session one root, no cycle, alternating roles. Pure."""

from collections import Counter
from collections.abc import Iterator

from tests.faults.history_data import Row, Violation

MAY_FOLLOW = {"user": ("root", "assistant"), "assistant": ("user",), "summary": ("user",)}


def broken_trees(messages: list[Row]) -> Iterator[Violation]:
    """I9: per session one root; every parent leads to it, through alternating roles."""
    rows = {row["id"]: row for row in messages}
    roots = Counter(row["session_id"] for row in messages if row["role"] == "root")
    for session in {row["session_id"] for row in messages}:
        if roots[session] != 1:
            yield Violation("I9", {"session": session}, f"{roots[session]} roots")
    for row in messages:
        problem = _misplaced(row, rows)
        if problem:
            yield Violation("I9", {"message": row["id"]}, problem)
    rooted: set[str] = {row["id"] for row in messages if row["role"] == "root"}
    for row in messages:
        path = _climb(row, rows, rooted)
        if path is None:
            yield Violation("I9", {"message": row["id"]}, "its ancestors are a cycle or lead nowhere")
        else:
            rooted |= path


def _misplaced(row: Row, rows: dict[str, Row]) -> str | None:
    if row["role"] == "root":
        return None if row["parent_id"] is None else "a root with a parent"
    parent = rows.get(row["parent_id"])
    child = rows.get(row.get("latest_child_id") or "")
    if parent is None:
        return "its parent is not there"
    if parent["session_id"] != row["session_id"]:
        return "its parent is of another session"
    if parent["role"] not in MAY_FOLLOW[row["role"]]:
        return f"{row['role']} after {parent['role']}"
    if child is not None and (child["parent_id"] != row["id"] or child["role"] == "summary"):
        return "latest_child is not one of its replies"
    return None


def _climb(row: Row, rows: dict[str, Row], rooted: set[str]) -> set[str] | None:
    """The ids from `row` up to the first that is known to hang on a root; None if there is none."""
    path: set[str] = set()
    while row["id"] not in rooted:
        if row["id"] in path or row["parent_id"] not in rows:
            return None
        path.add(row["id"])
        row = rows[row["parent_id"]]
    return path
