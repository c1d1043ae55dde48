"""`pip install .` of a clean clone into an empty virtual environment, and `turnwire run`: the page, a language, one answer."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.instance import LaunchedInstance
from tests.upstream import Upstream

pytestmark = [pytest.mark.full, pytest.mark.e2e, pytest.mark.timeout(900)]


class InstalledInstance(LaunchedInstance):
    """Started by the installed command, in a folder that has nothing of the code."""

    def install(self) -> "InstalledInstance":
        environment = self.code.parent / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        # Developers have it; a clean clone has not.
        (self.code / "node_modules").unlink()
        subprocess.run([environment / "bin" / "python", "-m", "pip", "install", "-q", self.code], check=True)
        self.command = (str(environment / "bin" / "turnwire"), "run")
        self.folder = self.code.parent / "elsewhere"
        # The name of a package of Turnwire, which is not this one.
        (self.folder / "config").mkdir(parents=True)
        (self.folder / "config" / "__init__.py").write_text("raise RuntimeError\n", encoding="utf-8")
        return self


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[InstalledInstance]:
    with Upstream() as upstream:
        upstream.reply({"text": "The tide turns."})
        instance = InstalledInstance(tmp_path, LLM_BASE_URL=upstream.base_url, LLM_MODELS="alpha").install()
        instance.start()
        yield instance
        instance.stop()


async def test_an_installed_instance_answers(instance: InstalledInstance) -> None:
    async with Client.login(instance.address, "demo", "demo") as demo:
        page = await demo.http.get("/login/", headers={"Accept-Language": "de"})
        assert "Anmelden" in page.text
        # What is bundled of the page's modules.
        assert "/static/bundle/" in page.text
        assert (await demo.http.get("/api/docs/")).status_code == 200
        session = await demo.new_session()
        async with demo.socket() as socket:
            await socket.subscribe(session["id"])
            turn = await demo.ask(session, "When?")
            assert (await socket.ended(turn["runs"][0]["id"])).text == "The tide turns."
    assert instance.stop() == 0
