"""What is read of tokens and userinfo."""

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from web.accounts.oidc.identity import InvalidToken, read_id_token, read_identity

pytestmark = pytest.mark.pure

KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC = jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
ISSUER, CLIENT = "https://id.example.org", "turnwire"


def claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    right = {"iss": ISSUER, "aud": CLIENT, "sub": "s", "iat": now, "exp": now + 60, "nonce": "n"}
    return {name: value for name, value in (right | changed).items() if value is not None}


def read(keys: list[dict[str, Any]], kid: str | None = None, **changed: Any) -> Any:
    token = jwt.encode(claims(**changed), KEY, "ES256", {"kid": kid} if kid else None)
    return read_id_token(token, {"keys": keys}, issuer=ISSUER, client_id=CLIENT, nonce="n")


def test_the_key_is_the_named_one_or_the_only_one() -> None:
    other = jwt.algorithms.ECAlgorithm.to_jwk(
        ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True
    )
    assert read([PUBLIC])["sub"] == "s"
    assert read([{**other, "kid": "b"}, {**PUBLIC, "kid": "a"}], kid="a")["sub"] == "s"
    assert read([PUBLIC, {**other, "use": "enc"}])["sub"] == "s"
    for keys, kid in (([PUBLIC, other], None), ([{**PUBLIC, "kid": "a"}], "b"), ([other], None), ([], None)):
        with pytest.raises(InvalidToken):
            read(keys, kid=kid)


@pytest.mark.parametrize(
    "keys", [{}, {"keys": None}, {"keys": [5]}, {"keys": [{"kty": "EC"}]}, {"keys": "x"}]
)
@pytest.mark.parametrize("token", ["", "a.b.c", "no token", jwt.encode({}, KEY, "ES256")])
def test_nonsense_is_no_token(token: str, keys: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        read_id_token(token, keys, issuer=ISSUER, client_id=CLIENT, nonce="n")


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": [CLIENT, "other"], "azp": "other"}, {"aud": [CLIENT, "other"]}, {"aud": []}, {"nonce": ["n"]},
        {"sub": ""}, {"sub": ["s"]}, {"exp": 5}, {"iat": None}, {"exp": "soon"}, {"nonce": "é"},
    ],
)  # fmt: skip
def test_claims_that_are_not_for_this_login_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken):
        read([PUBLIC], **changed)


def test_several_audiences_are_accepted_if_it_was_issued_to_this_client() -> None:
    assert read([PUBLIC], aud=[CLIENT, "other"], azp=CLIENT)["sub"] == "s"


@pytest.mark.parametrize(
    ("token", "userinfo", "email"),
    [
        ({"email": "a@b.c", "email_verified": True}, {}, "a@b.c"),
        ({}, {"email": "a@b.c", "email_verified": "true"}, "a@b.c"),
        ({"email": "other@b.c"}, {"email": "a@b.c", "email_verified": True}, "a@b.c"),
        ({"email": "other@b.c"}, {"email_verified": True}, ""),
        ({"email": "a@b.c", "email_verified": "True"}, {}, ""),
        ({"email": "a@b.c", "email_verified": 1}, {}, ""),
        ({"email": ["a@b.c"], "email_verified": True}, {}, ""),
        ({"email": "a\0@b.c", "email_verified": True}, {}, ""),
    ],
)
def test_an_address_counts_where_the_same_source_says_that_it_is_verified(
    token: dict[str, Any], userinfo: dict[str, Any], email: str
) -> None:
    about = {"sub": "s"}
    assert read_identity(token | about, userinfo and userinfo | about, "groups").email == email


@pytest.mark.parametrize(
    ("token", "userinfo", "groups"),
    [
        ({}, {}, None),
        ({"groups": []}, {"groups": ["a"]}, set()),
        ({"groups": ["a", 5]}, {}, {"a"}),
        ({}, {"groups": "a"}, {"a"}),
        ({"groups": {"a": 1}}, {}, None),
    ],
)
def test_groups_are_those_of_the_token_or_else_of_userinfo(
    token: dict[str, Any], userinfo: dict[str, Any], groups: set[str] | None
) -> None:
    assert (
        read_identity(token | {"sub": "s"}, userinfo and userinfo | {"sub": "s"}, "groups").groups == groups
    )
