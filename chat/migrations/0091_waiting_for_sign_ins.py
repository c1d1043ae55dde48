"""Calls wait for their users to sign in to their servers, or to go to an address. Beside traffic: columns that are null or have a default, constraints that 0092 validates."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0090_tool_call_images"),
    ]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="url",
            field=models.CharField(blank=True, db_default="", default="", max_length=2000),
        ),
        migrations.AddField(
            model_name="approval",
            name="server",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="chat.mcpserver",
            ),
        ),
        migrations.AddField(
            model_name="approval",
            name="credential",
            field=models.UUIDField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="approval",
            name="kind",
            field=models.CharField(
                choices=[
                    ("approval", "Approval"),
                    ("question", "Question"),
                    ("address", "Address"),
                    ("sign_in", "Sign in"),
                ],
                db_default="approval",
                default="approval",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="approval",
            name="decision",
            field=models.CharField(
                blank=True,
                choices=[
                    ("approved", "Approved"),
                    ("refused", "Refused"),
                    ("answered", "Answered"),
                    ("declined", "Declined"),
                    ("signed_in", "Signed in"),
                    ("expired", "Expired"),
                    ("stopped", "Stopped"),
                ],
                default="",
                max_length=9,
            ),
        ),
        migrations.RemoveConstraint(model_name="approval", name="approval_decision_known"),
        AddConstraintNotValid(
            model_name="approval",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "decision__in",
                        [
                            "",
                            "approved",
                            "refused",
                            "answered",
                            "declined",
                            "signed_in",
                            "expired",
                            "stopped",
                        ],
                    )
                ),
                name="approval_decision_known",
            ),
        ),
        migrations.RemoveConstraint(model_name="approval", name="approval_question_has_form"),
        AddConstraintNotValid(
            model_name="approval",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("form", ""), ("kind__in", ["approval", "address", "sign_in"])),
                    models.Q(("kind", "question"), models.Q(("form", ""), _negated=True)),
                    _connector="OR",
                ),
                name="approval_question_has_form",
            ),
        ),
    ]
