"""The identity in an ID token and the userinfo response, after their checks. Pure; OpenID Connect Core 3.1.3.7."""

import hmac
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

# HS256, whose key is the client's secret, and `none` are never accepted.
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
# RFC 7518, section 3.4.
_CURVES: Final = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
REQUIRED: Final = ("iss", "sub", "aud", "exp", "iat")
# Tolerance for clock differences.
LEEWAY_S: Final = 60
# The length of allauth's column; the standard allows 255, which no provider uses.
MAX_SUBJECT_CHARACTERS: Final = 191

# Members that name a group, the first of them counts.
_NAMES: Final = ("name", "displayName", "display", "value")

Claims = Mapping[str, Any]


class InvalidToken(Exception):
    """The token or userinfo is not accepted. The message is for the log."""


class Identity(NamedTuple):
    """A person as the provider describes it.
    subject: unique at its issuer. email: verified by the provider, else empty. groups: None if there is no such claim.
    unread_groups: the type of a claim of groups whose form is not known, of which nothing follows; empty: none is.
    """

    subject: str
    email: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""
    groups: frozenset[str] | None = None
    unread_groups: str = ""
    authenticated_at: float | None = None


def read_id_token(token: str, keys: Claims, *, issuer: str, client_id: str, nonce: str) -> Claims:
    """Return the claims of a token that the issuer signed for this client and this login. keys: a JWK Set.
    Raises InvalidToken.
    """
    import jwt  # loads cryptography, which other processes and requests do not need

    try:
        claims = _signed_claims(token, keys, issuer, client_id)
    except (jwt.PyJWTError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidToken(f"{type(error).__name__}: {error}") from error
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if claims.get("azp", client_id if len(audiences) == 1 else None) != client_id:
        raise InvalidToken("it was issued to another client")
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise InvalidToken("its nonce is not that of this login")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= MAX_SUBJECT_CHARACTERS:
        raise InvalidToken("its subject is not a text of 1 to 191 characters")
    return claims


def _signed_claims(token: str, keys: Claims, issuer: str, client_id: str) -> dict[str, Any]:
    """Return the claims that one of the keys has signed. Raises InvalidToken if none fits, and errors of PyJWT."""
    import jwt

    header = jwt.get_unverified_header(token)
    algorithm = str(header.get("alg"))
    candidates = _candidates(header, keys["keys"]) if algorithm in ALGORITHMS else []
    problem: Exception = InvalidToken("no key of the provider fits it")
    for key in candidates:
        try:
            return jwt.decode(
                token, key=jwt.PyJWK(dict(key), algorithm), algorithms=[algorithm], issuer=issuer, audience=client_id,
                leeway=LEEWAY_S, options={"require": list(REQUIRED)},
            )  # fmt: skip
        except (jwt.InvalidSignatureError, jwt.PyJWKError, jwt.InvalidKeyError) as error:
            problem = error  # of this key; another one may have signed it
    raise problem


def _candidates(header: Claims, keys: Any) -> list[Claims]:
    """Return the keys with which the token may be signed: the one that it names, else all of the type.

    `alg` and `kid` of a key are optional (RFC 7517): keys without an algorithm fit those of their type.
    """
    algorithm, wanted = header["alg"], header.get("kid")
    fitting = [key for key in keys if isinstance(key, Mapping) and _fits(key, algorithm)]
    if wanted is None:
        return fitting
    return [key for key in fitting if key.get("kid") == wanted] or [
        key for key in fitting if "kid" not in key
    ]


def _fits(key: Claims, algorithm: str) -> bool:
    kind = {"R": "RSA", "P": "RSA", "E": "EC"}[algorithm[0]] if algorithm != "EdDSA" else "OKP"
    is_curve = key.get("crv") == _CURVES[algorithm] if algorithm in _CURVES else True
    is_for_signatures = key.get("use") in (None, "sig")
    return key.get("kty") == kind and is_curve and is_for_signatures and key.get("alg") in (None, algorithm)


def read_identity(token: Claims, userinfo: Claims, groups_claim: str) -> Identity:
    """Merge both sources; the signed token takes precedence. Raises InvalidToken if their subjects differ."""
    if userinfo and userinfo.get("sub") != token["sub"]:
        raise InvalidToken("userinfo is about another subject")
    claims = {**userinfo, **token}
    authenticated_at = token.get("auth_time")
    claimed = [value for source in (token, userinfo) if (value := _claim(source, groups_claim)) is not None]
    groups = next((read for value in claimed if (read := _groups(value)) is not None), None)
    return Identity(
        subject=token["sub"],
        email=_verified_email(token) or _verified_email(userinfo),
        username=_text(claims, "preferred_username"),
        first_name=_text(claims, "given_name"),
        last_name=_text(claims, "family_name"),
        groups=groups,
        unread_groups=type(claimed[0]).__name__ if claimed and groups is None else "",
        authenticated_at=authenticated_at if isinstance(authenticated_at, int | float) else None,
    )


def _verified_email(claims: Claims) -> str:
    """Return the verified address of one source, or an empty string.
    Sources are not mixed: address and confirmation of different sources may not belong together.
    """
    is_verified = claims.get("email_verified")
    # Some providers send a string instead of a boolean.
    return _text(claims, "email") if is_verified is True or is_verified == "true" else ""


def _text(claims: Claims, name: str) -> str:
    value = claims.get(name)
    return value.strip() if isinstance(value, str) and "\0" not in value else ""


def _claim(claims: Claims, name: str) -> Any:
    """Return the value of a claim, or of a path of names with dots (`realm_access.roles`); None: there is none."""
    value: Any = claims.get(name)
    if value is None:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _groups(value: Any) -> frozenset[str] | None:
    """Return the groups of a claim: a name, a list of names or of objects, or an object. None: of another form."""
    if isinstance(value, str | Mapping):
        value = [value]
    if not isinstance(value, list):
        return None
    names = [list(_names(item)) for item in value]
    return frozenset(name for named in names for name in named) if any(names) or not any(value) else None


def _names(item: Any) -> Iterator[str]:
    """Yield the names of groups in an item of a claim: an object has a name (SCIM, RFC 7643: `display`, `value`), or is
    an object by names (`{"staff": {"12": "example.org"}}`).
    """
    if isinstance(item, str):
        yield item
    elif isinstance(item, Mapping):
        own = [item[member] for member in _NAMES if isinstance(item.get(member), str)]
        yield from own[:1] or (
            name for name, inner in item.items() if inner is True or isinstance(inner, dict | list)
        )
