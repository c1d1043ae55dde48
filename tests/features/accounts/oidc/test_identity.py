"""What is read of tokens and userinfo."""

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from features.accounts.oidc_identity import InvalidToken, read_id_token, read_identity

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


def test_the_key_is_the_named_one_or_one_of_the_type() -> None:
    other = jwt.algorithms.ECAlgorithm.to_jwk(
        ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True
    )
    assert read([PUBLIC])["sub"] == "s"
    assert read([{**other, "kid": "b"}, {**PUBLIC, "kid": "a"}], kid="a")["sub"] == "s"
    assert read([PUBLIC, {**other, "use": "enc"}])["sub"] == "s"
    # Keys without ids are all tried; so are those without ids for a token that names one.
    assert read([other, PUBLIC])["sub"] == "s"
    assert read([{**other, "kid": "b"}, other, PUBLIC], kid="a")["sub"] == "s"
    for keys, kid in (([{**PUBLIC, "kid": "a"}], "b"), ([other], None), ([], None)):
        with pytest.raises(InvalidToken):
            read(keys, kid=kid)


RSA_KEY = rsa.generate_private_key(65537, 2048)
EDWARDS_KEY = ed25519.Ed25519PrivateKey.generate()
ALGORITHMS_OF_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")


def public(key: Any) -> dict[str, Any]:
    """The key as a JWK without an algorithm."""
    form = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.OKPAlgorithm
    return {"use": "sig", **form.to_jwk(key.public_key(), as_dict=True), "key_ops": None}


def read_signed(key: Any, algorithm: str, keys: list[dict[str, Any]], **header: Any) -> Any:
    token = jwt.encode(claims(), key, algorithm, header)
    return read_id_token(token, {"keys": keys}, issuer=ISSUER, client_id=CLIENT, nonce="n")


@pytest.mark.parametrize(
    ("key", "algorithm"), [*((RSA_KEY, name) for name in ALGORITHMS_OF_RSA), (EDWARDS_KEY, "EdDSA")]
)
def test_a_key_without_an_algorithm_fits_each_algorithm_of_its_type(key: Any, algorithm: str) -> None:
    keys = [PUBLIC, public(RSA_KEY), public(EDWARDS_KEY)]
    assert read_signed(key, algorithm, keys)["sub"] == "s"
    assert read_signed(key, algorithm, [{**one, "kid": "a"} for one in keys], kid="a")["sub"] == "s"


@pytest.mark.parametrize(
    ("algorithm", "keys"),
    [
        ("PS256", [{**public(RSA_KEY), "alg": "RS256"}]),
        ("RS256", [public(rsa.generate_private_key(65537, 2048))]),
        ("RS256", [PUBLIC, public(EDWARDS_KEY)]),
        ("RS256", [{"kty": "RSA"}, {"kty": "oct", "k": "c2VjcmV0"}]),
    ],
    ids=["another algorithm", "a foreign key", "other types", "malformed keys"],
)
def test_a_key_that_does_not_fit_accepts_no_token(algorithm: str, keys: list[dict[str, Any]]) -> None:
    with pytest.raises(InvalidToken):
        read_signed(RSA_KEY, algorithm, keys)


@pytest.mark.parametrize("algorithm", ["HS256", "none"])
def test_the_secret_of_a_client_signs_no_token(algorithm: str) -> None:
    secret = "s" * 64 if algorithm == "HS256" else None
    with pytest.raises(InvalidToken):
        read_signed(secret, algorithm, [{"kty": "oct", "k": "c3Nzcw"}, public(RSA_KEY)])


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
        ({"groups": {"a": {"12": "example.org"}, "b": True, "c": False}}, {}, {"a", "b"}),
        ({"groups": {}}, {}, set()),
        (
            {"groups": [{"id": "1", "name": "a"}, {"value": "7", "display": "b"}, {"c": {}}]},
            {},
            {"a", "b", "c"},
        ),
        ({"groups": 5}, {"groups": [{"displayName": "a"}]}, {"a"}),
    ],
)
def test_groups_are_those_of_the_token_or_else_of_userinfo(
    token: dict[str, Any], userinfo: dict[str, Any], groups: set[str] | None
) -> None:
    assert (
        read_identity(token | {"sub": "s"}, userinfo and userinfo | {"sub": "s"}, "groups").groups == groups
    )


@pytest.mark.parametrize(
    ("value", "unread"), [(5, "int"), ({"a": 1}, "dict"), ([5], "list"), (None, ""), ([], "")]
)
def test_a_claim_of_another_form_is_told_from_none(value: Any, unread: str) -> None:
    identity = read_identity({"sub": "s", "groups": value}, {}, "groups")
    assert identity.unread_groups == unread
    assert identity.groups == (frozenset() if value == [] else None)
