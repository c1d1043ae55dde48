"""What LLM_MODELS, the demo and the admin's own changes make of the models, start after start."""

import pytest
from django.core.management import CommandError, call_command

from chat.models import ModelConfig

pytestmark = pytest.mark.django_db


def configure(demo: bool = False, **windows: int) -> None:
    ModelConfig.objects.configure(windows, demo=demo)


def offered() -> list[str]:
    """The default first, marked."""
    return [model.name + "*" * model.is_default for model in ModelConfig.objects.offered()]


def test_the_first_name_becomes_the_default() -> None:
    configure(zulu=8000, alpha=32_000)
    assert offered() == ["zulu*", "alpha"]
    assert ModelConfig.objects.get(name="zulu").max_output_tokens == 2000
    assert ModelConfig.objects.get(name="alpha").max_output_tokens == 4096


def test_a_second_start_changes_nothing_that_the_admin_changed() -> None:
    configure(one=8000, two=8000)
    ModelConfig.objects.get(name="two").make_default()
    ModelConfig.objects.filter(name="one").update(context_window=16_000)
    configure(one=8000, two=8000)
    assert offered() == ["two*", "one"]
    assert ModelConfig.objects.get(name="one").context_window == 16_000


def test_the_demo_makes_way_for_configured_models() -> None:
    configure(demo=True, demo_model=8000)
    assert offered() == ["demo_model*"]
    configure(real=8000)
    assert offered() == ["real*"]


def test_the_demo_comes_back_when_nothing_is_configured_any_more() -> None:
    configure(real=8000)
    configure(demo=True, demo_model=8000)
    assert offered() == ["demo_model*", "real"]


def test_the_demo_stays_away_when_the_admin_made_a_model_with_an_address() -> None:
    own = ModelConfig.objects.create(name="own", base_url="http://127.0.0.1:9/v1")
    own.make_default()
    configure(demo=True, demo_model=8000)
    assert offered() == ["own*"]


def test_a_start_without_names_leaves_the_models_alone() -> None:
    configure(real=8000)
    configure()
    assert offered() == ["real*"]


def test_a_user_is_made_once_and_gets_tokens(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create_user", "alice", password="secret-of-alice")
    with pytest.raises(CommandError):
        call_command("create_user", "alice", password="other")
    call_command("create_token", "alice")
    call_command("create_token", "alice")
    first, second = capsys.readouterr().out.split()
    assert first != second
    with pytest.raises(CommandError):
        call_command("create_token", "nobody")
