"""The migrated cluster that processes copy: made once, and nothing of one that was not finished."""

from pathlib import Path

import psycopg
import pytest

from config.embedded import DATABASE
from tests import migrated_cluster
from tests.services import Services


class Maker:
    """In place of Postgres and the migrations: makes a folder with one file, or fails in the middle."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.failure: BaseException | None = None

    def __call__(self, kept: Path) -> None:
        part = kept.with_name("part")
        part.mkdir()
        if self.failure:
            raise self.failure
        (part / "PG_VERSION").write_text("18")
        part.rename(kept)
        self.made.append(kept.name)


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Maker:
    maker = Maker()
    monkeypatch.setattr(migrated_cluster, "FOLDER", tmp_path / "clusters")
    monkeypatch.setattr(migrated_cluster, "_make", maker)
    return maker


@pytest.mark.pure
def test_it_is_made_once_and_copied_as_often_as_wanted(maker: Maker, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert migrated_cluster.copy_to(tmp_path / name)
        assert (tmp_path / name / "PG_VERSION").read_text() == "18"
    assert len(maker.made) == 1


@pytest.mark.pure
def test_one_of_other_code_takes_the_place_of_the_last(
    maker: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("old", "new"):
        monkeypatch.setattr(migrated_cluster, "_key", lambda key=key: key)
        assert migrated_cluster.make()
    assert maker.made == ["old", "new"]
    assert {each.name for each in (tmp_path / "clusters").iterdir()} == {"lock", "new"}


@pytest.mark.pure
def test_what_a_maker_left_that_was_killed_is_made_anew(maker: Maker, tmp_path: Path) -> None:
    maker.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        migrated_cluster.copy_to(tmp_path / "one")
    maker.failure = None
    assert migrated_cluster.copy_to(tmp_path / "one")


@pytest.mark.pure
@pytest.mark.parametrize("failure", [PermissionError("read-only"), RuntimeError("a migration fails")])
def test_where_it_cannot_be_made_nothing_is_copied(maker: Maker, tmp_path: Path, failure: Exception) -> None:
    maker.failure = failure
    assert not migrated_cluster.copy_to(tmp_path / "one")
    assert not (tmp_path / "one").exists()


def test_both_databases_of_a_copy_are_migrated(services: Services) -> None:
    if not services.has_template:
        pytest.skip("it could not be made here")
    applied = []
    for name in (DATABASE, migrated_cluster.TEMPLATE):
        with psycopg.connect(services.postgres_url.replace(f"/{DATABASE}?", f"/{name}?")) as connection:
            applied.append(
                connection.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
            )
    assert applied[0] == applied[1] != []
