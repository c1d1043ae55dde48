"""A model opens pages: what it reads and cites, in parts, once, and what it is told of what may not be opened."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chat.models import CitedDocument
from chat.protocol.states import Status
from tests.llm_worker.outcomes import ended
from tests.tool_fixtures import search_call, tool_responses

ARTICLE = "".join(f"<p>Sentence {n} of an article about the tides and the moon.</p>" for n in range(200))
PAGE = f"""<html><head><title>Tides explained</title></head><body><nav><a href="/">Menu of the site</a></nav>
<article><h1>Tides explained</h1>{ARTICLE}</article><footer>All rights reserved</footer></body></html>"""

OLD = "Договор подписан и вступает в силу немедленно."


@pytest.fixture
def site(settings):
    """A server of the deployment's own network, which the settings allow. asked: the paths."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            if place := {"/away": "http://169.254.169.254/latest/", "/bank": "/tides"}.get(self.path):
                self.send_response(302)
                self.send_header("Location", place)
                self.end_headers()
                return
            is_there = self.path in ("/tides", "/old")
            body = OLD.encode("cp1251") if self.path == "/old" else PAGE.encode()
            self.send_response(200 if is_there else 404)
            self.send_header(
                "Content-Type", "text/plain" if self.path == "/old" else "text/html; charset=utf-8"
            )
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    settings.URL_ALLOWED_HOSTS = frozenset({f"127.0.0.1:{server.server_address[1]}"})
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def session(agent_session):
    return agent_session(tools=["open_url", "web_search"])


def opens(url: str, **more: int) -> dict:
    return {"call": {"name": "open_url", "arguments": {"url": url, **more}}}


def test_a_page_is_read_in_parts_fetched_once_and_cited(ask, deliver, upstream, session, site):
    upstream.reply(opens(f"{site.url}/tides", length=1_000), times=1)
    upstream.reply(opens(f"{site.url}/tides", start=1_000, length=500), times=1)
    upstream.reply({"text": "The moon [1]."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text=f"The moon [[1]]({site.url}/tides).")
    first, second = map(json.loads, tool_responses(upstream.requests[-1]))
    [beginning], [more] = first["documents"], second["documents"]
    assert beginning["title"] == "Tides explained"
    assert "Sentence 0 of an article" in beginning["contents"]
    assert "Menu of the site" not in beginning["contents"]
    assert (beginning["metadata"]["start"], beginning["metadata"]["end"]) == ("0", "1000")
    assert "start 1000" in json.dumps(first)
    assert (more["document"], more["metadata"]["start"]) == (1, "1000")
    assert site.asked == ["/tides"]
    assert [cited.url for cited in CitedDocument.objects.filter(message=run.message)] == [f"{site.url}/tides"]


def test_a_text_that_says_nothing_of_its_encoding_is_guessed_by_the_process_that_reads_files(
    ask, deliver, upstream, session, site
):
    upstream.reply(opens(f"{site.url}/old"), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("What is it?", session=session)
    deliver(run).result(60)
    [response] = map(json.loads, tool_responses(upstream.requests[-1]))
    [document] = response["documents"]
    assert OLD in document["contents"]
    assert "which is a guess" in document["contents"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://169.254.169.254/latest/meta-data/", "url_address_blocked"),
        ("http://127.0.0.1:1/", "url_address_blocked"),
        ("file:///etc/passwd", "url_scheme_blocked"),
        ("{site}/away", "url_address_blocked"),
        ("{site}/nothing", "http_error"),
    ],
)
def test_a_refusal_contains_its_code_and_the_answer_goes_on(ask, deliver, upstream, session, site, url, code):
    upstream.reply(opens(url.format(site=site.url)), times=1)
    upstream.reply({"text": "I could not."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="I could not.")
    [response] = tool_responses(upstream.requests[-1])
    assert code in response


def test_a_page_that_was_redirected_is_cited_by_the_address_that_was_read(
    ask, deliver, upstream, session, site, searching
):
    searching.find({"title": "The bank", "url": f"{site.url}/bank", "content": "Ours."}, query="bank")
    upstream.reply(search_call("bank"), times=1)
    upstream.reply(opens(f"{site.url}/bank", length=100), times=1)
    upstream.reply(opens(f"{site.url}/tides", length=100), times=1)
    upstream.reply({"text": "Found [1], read [2]."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text=f"Found [[1]]({site.url}/bank), read [[2]]({site.url}/tides).")
    cited = CitedDocument.objects.filter(message=run.message_id).order_by("number")
    assert [one.title for one in cited] == ["The bank", "Tides explained"]


def test_after_a_search_the_model_is_reminded_that_pages_can_be_opened(
    ask, deliver, upstream, session, searching
):
    searching.find({"title": "Tides", "url": "https://tides.example/", "content": "It pulls."}, query="tides")
    upstream.reply(search_call("tides"), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    assert "open it with open_url" in json.dumps(upstream.requests[-1].messages)
    assert "open it with open_url" not in json.dumps(upstream.requests[0].messages)


def test_where_the_operator_turned_it_off_it_is_not_offered(ask, deliver, upstream, session, settings):
    settings.OPEN_URL = False
    upstream.reply({"text": "No."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    assert "open_url" not in json.dumps(upstream.requests[0].body)
