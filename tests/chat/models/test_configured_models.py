"""What LLM_MODELS, the demo and the admin's own changes make of the models, start after start."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.models import ModelConfig, Provider
from chat.transcript.tokens import Measured

pytestmark = pytest.mark.django_db


def configure(demo: bool = False, **windows: int) -> None:
    ModelConfig.objects.configure(windows, demo=demo)


def offered() -> list[str]:
    """The default first, marked."""
    return [model.name + "*" * model.is_default for model in ModelConfig.objects.offered()]


def test_the_first_name_becomes_the_default() -> None:
    configure(zulu=8000, alpha=32_000)
    assert offered() == ["zulu*", "alpha"]


def test_the_length_of_answers_is_left_to_the_server_and_budgets_keep_a_share_of_the_window() -> None:
    configure(zulu=8000, alpha=128_000)
    limits = {model.name: model.max_output_tokens for model in ModelConfig.objects.offered()}
    reserves = {model.name: model.answer_reserve for model in ModelConfig.objects.offered()}
    assert limits == {"zulu": None, "alpha": None}
    assert reserves == {"zulu": 2000, "alpha": 8192}
    ModelConfig.objects.filter(name="zulu").update(max_output_tokens=500)
    assert ModelConfig.objects.get(name="zulu").answer_reserve == 500


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
    for spelling in ("alice", "\uff41lice"):
        with pytest.raises(CommandError, match=r"^There is a user alice already\.$"):
            call_command("create_user", spelling, password="other")
    call_command("create_token", "alice")
    call_command("create_token", "\uff41lice")
    first, second = capsys.readouterr().out.split()
    assert first != second
    with pytest.raises(CommandError):
        call_command("create_token", "nobody")


def test_of_two_processes_that_measured_the_same_model_one_moves_its_factor():
    ModelConfig.objects.create(name="one")
    one, other = ModelConfig.objects.get(), ModelConfig.objects.get()
    assert one.calibrate(Measured(1.4, 2))
    assert not other.calibrate(Measured(1.1, 1))
    assert ModelConfig.objects.get().measured_factor == (1.4, 2)


@pytest.mark.parametrize(("tokenizer", "factor"), [("", 1.4), ("p50k_base", 1.4), ("o200k_base", 1.0)])
def test_only_estimates_are_corrected(tokenizer, factor):
    assert ModelConfig(tokenizer=tokenizer, token_factor=1.4).estimate_factor == factor


def provider() -> Provider:
    return Provider.objects.create(name="cloud", base_url="https://api.example.com/v1")


def test_the_demo_stays_away_while_a_provider_has_a_model() -> None:
    cloud = provider()
    ModelConfig.objects.create(name="large", provider=cloud, is_default=True)
    configure(demo=True, demo_model=8000)
    assert offered() == ["large*"]
    cloud.change(is_enabled=False)
    configure(demo=True, demo_model=8000)
    assert offered() == ["demo_model*"]


def test_a_name_that_a_provider_has_is_not_taken_from_it_and_that_is_said(settings: Any) -> None:
    ModelConfig.objects.create(name="large", provider=provider())
    settings.LLM_MODELS = {"large": 8000}
    said = StringIO()
    call_command("sync_models", stderr=said)
    assert "large of LLM_MODELS is that of the provider cloud" in said.getvalue()


def test_the_environment_takes_over_a_name_of_a_deleted_provider() -> None:
    cloud = provider()
    ModelConfig.objects.create(name="large", provider=cloud, upstream_name="vendor/large")
    cloud.retire()
    configure(large=8000)
    assert offered() == ["large*"]
    model = ModelConfig.objects.get()
    assert (model.provider, model.name_at_server) == (None, "large")


def test_the_local_model_takes_one_request_at_once_unless_staff_say_otherwise(settings: Any) -> None:
    settings.LLM_MODELS = {"local": 8000}
    ModelConfig.objects.create(name="other", base_url="http://other/v1")
    call_command("sync_models", "--max-requests", "1")
    call_command("sync_models", "--max-requests", "1")
    limits = dict(ModelConfig.objects.values_list("name", "max_requests"))
    assert limits == {"local": 1, "other": None}
    ModelConfig.objects.filter(name="local").update(max_requests=2)
    call_command("sync_models", "--max-requests", "1")
    assert ModelConfig.objects.get(name="local").max_requests == 2
