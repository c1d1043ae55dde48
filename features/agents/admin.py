"""The admin of agents, which lists all users' agents and edits the fields that their owners may edit."""

from typing import Any

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from chat.models import Agent, ModelConfig
from chat.presenters.tools import choices_of_servers, choosable_tools
from chat.protocol.body import MAX_MODELS

LARGE = forms.Textarea(attrs={"rows": 20, "cols": 100})


def tool_choices() -> list[tuple[str, str]]:
    """Return our own tools, and for each MCP server the choice of all of its tools and of single ones."""
    return [(name, name) for name in (*sorted(choosable_tools()), *choices_of_servers(None))]


def model_choices() -> list[tuple[str, str]]:
    return [(model.name, model.name) for model in ModelConfig.objects.offered()]


class AgentForm(forms.ModelForm[Agent]):
    """A form with choices for the columns that store lists of names."""

    tools = forms.MultipleChoiceField(
        label=_("Tools"), choices=tool_choices, required=False, widget=forms.CheckboxSelectMultiple
    )
    models = forms.MultipleChoiceField(
        label=_("Models"),
        choices=model_choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None: the default model."),
    )

    class Meta:
        model = Agent
        fields = (
            "owner",
            "name",
            "emoji",
            "description",
            "questions",
            "prompt",
            "replaces_system_prompt",
            "reminder",
            "tools",
            "models",
            "context_layout",
            "shared_with",
            "shared_with_users",
        )
        widgets = {"prompt": LARGE, "shared_with": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Keep chosen tools as choices even if their server does not list them at the moment."""
        super().__init__(*args, **kwargs)
        field = self.fields["tools"]
        if isinstance(field, forms.MultipleChoiceField):
            listed = tool_choices()
            names = {name for name, _name in listed}
            field.choices = [*listed, *((name, name) for name in self.instance.tools if name not in names)]

    def clean_models(self) -> list[str]:
        names: list[str] = self.cleaned_data["models"]
        if len(names) > MAX_MODELS:
            message = _("At most %(n)d models answer side by side.")
            raise forms.ValidationError(message, params={"n": MAX_MODELS})
        return names


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin[Agent]):
    form = AgentForm
    list_display = ("name", "owner", "context_layout", "replaces_system_prompt", "updated_at")
    list_select_related = ("owner",)
    list_filter = ("context_layout", "replaces_system_prompt", "shared_with")
    search_fields = ("id", "name", "prompt", "owner__username")
    raw_id_fields = ("owner", "shared_with_users")
