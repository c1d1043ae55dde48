"""A provider of OpenID Connect, `oidc-provider-mock`, as a process of its own that can be told to send what is wrong.

In a test:      with IdentityProvider() as provider: provider.person("sub-1", email=…); provider.tamper(claims={"aud": "other"})
As a process:   python -m tests.identity_provider PORT   (PUT /users/SUB, PUT /tampering)

It checks the client's secret and PKCE, which the library does not. What PUT /tampering sets holds until the next one:

    claims      of ID tokens, instead of the right ones; null: without the claim
    key         `foreign`: signed with a key that is not the provider's; `secret`: HS256 with that of the client; `none`
    userinfo    claims there, instead of the right ones
    discovery   members of the document, instead of the right ones
    status      {"token": 500}: of an endpoint (discovery, jwks, token, userinfo)
"""

import base64
import hashlib
import os
import subprocess
import sys
import time
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2

from config.embedded import find_suitable_port
from tests.process_reaper import end_with_this_process

CLIENT_ID, CLIENT_SECRET = "turnwire", "the secret of the client, long enough for HS256"
ENDPOINTS = {"openid_config": "discovery", "jwks": "jwks", "issue_token": "token", "userinfo": "userinfo"}
KEY_ID = "of the provider"
READY_S = 60


class IdentityProvider:
    def __init__(self) -> None:
        self.port = find_suitable_port("127.0.0.1")
        self.issuer = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        environment = {**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.identity_provider", str(self.port)],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        end_with_this_process(self.process)
        limit = time.monotonic() + READY_S
        while True:
            try:
                httpx2.get(f"{self.issuer}/jwks").raise_for_status()
            except httpx2.HTTPError:
                assert time.monotonic() < limit, "the identity provider did not start"
                time.sleep(0.05)
            else:
                return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def person(self, subject: str, **claims: Any) -> str:
        httpx2.put(f"{self.issuer}/users/{subject}", json=claims).raise_for_status()
        return subject

    def tamper(self, **how: Any) -> None:
        httpx2.put(f"{self.issuer}/tampering", json=how).raise_for_status()

    def answer(self, location: str, subject: str | None) -> str:
        """Answer the form to which the client was led, as a person does; return where it leads. None: deny it."""
        form = {"action": "deny"} if subject is None else {"sub": subject}
        return httpx2.post(location, data=form).headers["Location"]


class Tampering:
    """What the process does beside the library, before and after each of its answers."""

    def __init__(self) -> None:
        from authlib.jose import JsonWebKey

        self.how: dict[str, Any] = {}
        self.challenges: dict[str, str] = {}
        self.foreign_key = JsonWebKey.generate_key("RSA", 2048, is_private=True)

    def set(self) -> Any:
        self.how = flask.request.get_json()
        return "", 204

    def before(self) -> Any:
        name = ENDPOINTS.get(endpoint(), "")
        if name in self.how.get("status", {}):
            return "", self.how["status"][name]
        return self.check_client() if name == "token" else None

    def check_client(self) -> Any:
        form = flask.request.form
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        known = self.challenges.pop(form.get("code", ""), None)
        if form.get("client_secret") != CLIENT_SECRET or challenge != known:
            return {"error": "invalid_grant"}, 400
        return None

    def after(self, response: Any) -> Any:
        name = endpoint()
        if name == "authorize" and "Location" in response.headers:
            response.headers["Location"] = self.led(response.headers["Location"])
        change = {
            "issue_token": self.change_token,
            "jwks": lambda body: body["keys"][0].update(kid=KEY_ID),
            "userinfo": lambda body: body.update(self.how.get("userinfo", {})),
            "openid_config": lambda body: body.update(self.how.get("discovery", {})),
        }.get(name)
        if change and response.status_code == 200:
            body = response.get_json()
            change(body)
            response.set_data(flask.json.dumps(body))
        return response

    def led(self, location: str) -> str:
        asked = flask.request.args
        for code in parse_qs(urlsplit(location).query).get("code", ()):
            assert asked["code_challenge_method"] == "S256"
            self.challenges[code] = asked["code_challenge"]
        # The library forgets it with errors.
        return location if "state=" in location else f"{location}&{urlencode({'state': asked['state']})}"

    def change_token(self, body: dict[str, Any]) -> None:
        claims = jwt.decode(body["id_token"], options={"verify_signature": False}) | self.how.get(
            "claims", {}
        )
        left = {name: value for name, value in claims.items() if value is not None}
        body["id_token"] = jwt.encode(left, *self.key_and_algorithm(), {"kid": KEY_ID})

    def key_and_algorithm(self) -> tuple[Any, str]:
        how = self.how.get("key")
        if how in ("secret", "none"):
            return (CLIENT_SECRET, "HS256") if how == "secret" else (None, "none")
        key = self.foreign_key if how == "foreign" else storage.jwk
        # The key itself: to read one from PEM verifies its primes, which takes longer than the rest of a login.
        return key.get_private_key(), "RS256"


def endpoint() -> str:
    """The library's name of the function that answers."""
    return (flask.request.endpoint or "").rpartition(".")[2]


def main(port: int) -> None:
    tampering, app = Tampering(), oidc_provider_mock.app()
    app.put("/tampering")(tampering.set)
    app.before_request(tampering.before)
    app.after_request(tampering.after)
    make_server("127.0.0.1", port, app, threaded=True).serve_forever()


if __name__ == "__main__":
    # Not where tests import this: the library warns of what it is made of.
    import flask
    import jwt
    import oidc_provider_mock
    from oidc_provider_mock._storage import storage
    from werkzeug.serving import make_server

    main(int(sys.argv[1]))
