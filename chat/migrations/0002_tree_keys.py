"""Foreign keys over two columns, which Django cannot declare: the tree stays inside its session, a parent's
role is true, and latest_child is a reply to the message that names it.

Deferred to the end of the transaction: a session is deleted, or a message and its parent written, in any order.
"""

from django.db import migrations

KEYS = {
    "message_parent_in_same_session": (
        "FOREIGN KEY (session_id, parent_id) REFERENCES chat_chatmessage (session_id, id)"
    ),
    "message_parent_role_is_true": (
        "FOREIGN KEY (parent_id, parent_role) REFERENCES chat_chatmessage (id, role)"
    ),
    "message_latest_child_is_a_reply_to_it": (
        "FOREIGN KEY (latest_child_id, id) REFERENCES chat_chatmessage (id, reply_to)"
    ),
    "message_cutoff_in_same_session": (
        "FOREIGN KEY (session_id, last_summarized_message_id) REFERENCES chat_chatmessage (session_id, id)"
    ),
}


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_initial")]
    operations = [
        migrations.RunSQL(
            f"ALTER TABLE chat_chatmessage ADD CONSTRAINT {name} {key} DEFERRABLE INITIALLY DEFERRED",
            f"ALTER TABLE chat_chatmessage DROP CONSTRAINT {name}",
        )
        for name, key in KEYS.items()
    ]
