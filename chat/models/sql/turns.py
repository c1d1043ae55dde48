"""Statements about turns: what a reply to a message waits for, where the current branch ends, how a turn stands."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.model_configs import IS_OFFERED
from chat.models.sql.rows import MESSAGE_PLACE, MessagePlace
from chat.models.sql.runs import IN_PROGRESS
from chat.models.sql.sessions import IS_UNNAMED
from chat.models.sql.statements import JSONText, Statement, literals, select_list
from chat.models.sql.usage import DAILY_ACCOUNT, DailyAccountRow
from chat.protocol.states import LIVE


class TurnState(NamedTuple):
    """A turn that has not ended. statuses: those of its runs. is_announced: all runs are. is_untitled: its session has
    no title that stays."""

    id: UUID
    statuses: list[str]
    is_announced: bool
    has_followers: bool
    is_untitled: bool


class Blocker(NamedTuple):
    """turn: the turn that must end before a reply can start; None: no turn."""

    turn: UUID | None


class EndedTurn(NamedTuple):
    id: UUID


class OfferedModel(NamedTuple):
    """The columns of a ModelConfig that a new run needs."""

    id: int
    name: str
    context_window: int
    max_output_tokens: int | None
    supports_tools: bool
    unsupported_options: list[str]
    queue: str


class TipSnapshotRow(NamedTuple):
    """The columns of TipSnapshot (chat/models/tip_snapshot.py), once for each model that may answer."""

    latest_event: int
    agent_id: UUID | None
    own_models: list[str]
    preferred: list[str]
    own_runs: int
    queued_runs: JSONText  # by queue
    stored_bytes: int
    blocker_id: UUID | None
    is_repeat: bool
    tip: MessagePlace | None
    model: OfferedModel | None
    account: DailyAccountRow


# An expression over `run`, its `turn` and the turn `above` which that waits for: the turn that must end before a reply
# to the run's answer can start.
_BLOCKER = f"""
    CASE
        WHEN run.status IN ({literals(LIVE)}) THEN turn.id
        WHEN above.ended_at IS NULL THEN above.id
    END
"""
# The turn of a run. Parameters: run. Plan: primary keys, chat_run by turn (one_answer_per_turn_and_model),
# chat_turn by after.
READ_STATE: Final = Statement(
    f"""
    SELECT turn.id, array_agg(run.status), bool_and(run.announced_at IS NOT NULL),
        EXISTS (SELECT FROM chat_turn AS follower WHERE follower.after_id = turn.id),
        EXISTS (
            SELECT FROM chat_session AS session
            WHERE session.id = turn.session_id AND {IS_UNNAMED}
        )
    FROM chat_turn AS turn JOIN chat_run AS run ON run.turn_id = turn.id
    WHERE turn.id = (SELECT turn_id FROM chat_run WHERE id = %(run)s) AND turn.ended_at IS NULL
    GROUP BY turn.id
    """,  # noqa: S608  constants alone
    TurnState,
)
# Parameters: answer (a message). Plan: unique index on chat_run.message_id, primary keys.
READ_BLOCKER: Final = Statement(
    f"""
    SELECT {_BLOCKER}
    FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
    LEFT JOIN chat_turn AS above ON above.id = turn.after_id
    WHERE run.message_id = %(answer)s
    """,  # noqa: S608  constants alone
    Blocker,
)
# Parameters: turn. Plan: primary key.
END: Final = Statement(
    "UPDATE chat_turn SET ended_at = STATEMENT_TIMESTAMP() WHERE id = %(turn)s RETURNING id", EndedTurn
)
# The models that the owner has chosen for chats which name none.
_PREFERRED = "COALESCE((SELECT models::text[] FROM chat_preferences WHERE user_id = %(owner)s), '{}')"
_MODEL_ORDER = "model.is_named DESC, model.is_default DESC, model.name"
# Parameters: session, owner, names (of models, NULL: the preferred and the default one), most (the number of models
# beside preferred ones), client_message_id (or NULL), most_queued. Plan: primary keys, unique index on
# chat_run.message_id, one_message_per_client_id, those of IN_PROGRESS and DAILY_ACCOUNT; chat_modelconfig is read whole.
READ_TIP_SNAPSHOT: Final = Statement(
    f"""
    SELECT session.latest_event, session.agent_id,
        CASE WHEN session.has_own_models THEN session.models ELSE '{{}}' END, {_PREFERRED}, in_progress.own, in_progress.queued,
        COALESCE((SELECT total FROM chat_storedbytes WHERE user_id = session.owner_id), 0), {_BLOCKER},
        EXISTS (
            SELECT FROM chat_chatmessage AS earlier
            WHERE earlier.session_id = session.id AND earlier.client_message_id = %(client_message_id)s
        ),
        {MESSAGE_PLACE}, {select_list(OfferedModel, "model")}, account.*
    FROM chat_session AS session
    LEFT JOIN chat_chatmessage AS message ON message.id = session.leaf_id
    LEFT JOIN chat_run AS run ON run.message_id = message.id
    LEFT JOIN chat_turn AS turn ON turn.id = run.turn_id
    LEFT JOIN chat_turn AS above ON above.id = turn.after_id
    CROSS JOIN ({IN_PROGRESS}) AS in_progress
    CROSS JOIN ({DAILY_ACCOUNT}) AS account
    LEFT JOIN (
        SELECT * FROM (
            SELECT id, name, context_window, max_output_tokens, supports_tools, unsupported_options, queue, is_default,
                name = ANY(%(names)s::text[] || {_PREFERRED}) AS is_named
            FROM chat_modelconfig WHERE {IS_OFFERED}
        ) AS model
        ORDER BY {_MODEL_ORDER} LIMIT %(most)s + cardinality({_PREFERRED})
    ) AS model ON TRUE
    WHERE session.id = %(session)s
    ORDER BY {_MODEL_ORDER}
    """,  # noqa: S608  constants alone
    TipSnapshotRow,
)
