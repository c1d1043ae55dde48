"""The identity in an ID token and the userinfo response, after their checks. Pure; OpenID Connect Core 3.1.3.7."""

import hmac
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

# HS256, whose key is the client's secret, and `none` are never accepted.
ALGORITHMS: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
REQUIRED: Final = ("iss", "sub", "aud", "exp", "iat")
# Tolerance for clock differences.
LEEWAY_S: Final = 60
# The length of allauth's column; the standard allows 255, which no provider uses.
MAX_SUBJECT_CHARACTERS: Final = 191

Claims = Mapping[str, Any]


class InvalidToken(Exception):
    """The token or userinfo is not accepted. The message is for the log."""


class Identity(NamedTuple):
    """A person as the provider describes it.
    subject: unique at its issuer. email: verified by the provider, else empty. groups: None if there is no such claim.
    """

    subject: str
    email: str = ""
    username: str = ""
    first_name: str = ""
    last_name: str = ""
    groups: frozenset[str] | None = None
    authenticated_at: float | None = None


def read_id_token(token: str, keys: Claims, *, issuer: str, client_id: str, nonce: str) -> Claims:
    """Return the claims of a token that the issuer signed for this client and this login. keys: a JWK Set.
    Raises InvalidToken.
    """
    import jwt  # loads cryptography, which other processes and requests do not need

    try:
        claims: dict[str, Any] = jwt.decode(
            token, key=_key_of(token, keys), algorithms=list(ALGORITHMS), issuer=issuer, audience=client_id,
            leeway=LEEWAY_S, options={"require": list(REQUIRED)},
        )  # fmt: skip
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


def _key_of(token: str, keys: Claims) -> Any:
    """Return the key that the token names; without a key id, the only signing key. Raises InvalidToken if none fits."""
    import jwt

    wanted = jwt.get_unverified_header(token).get("kid")
    usable = [key for key in jwt.PyJWKSet.from_dict(dict(keys)).keys if key.public_key_use in (None, "sig")]
    found = [key for key in usable if key.key_id == wanted] if wanted is not None else usable
    if len(found) != 1:
        raise InvalidToken(f"{len(found)} keys of the provider fit it")
    return found[0]


def read_identity(token: Claims, userinfo: Claims, groups_claim: str) -> Identity:
    """Merge both sources; the signed token takes precedence. Raises InvalidToken if their subjects differ."""
    if userinfo and userinfo.get("sub") != token["sub"]:
        raise InvalidToken("userinfo is about another subject")
    claims = {**userinfo, **token}
    authenticated_at = token.get("auth_time")
    return Identity(
        subject=token["sub"],
        email=_verified_email(token) or _verified_email(userinfo),
        username=_text(claims, "preferred_username"),
        first_name=_text(claims, "given_name"),
        last_name=_text(claims, "family_name"),
        groups=_groups(token, groups_claim) if _has(token, groups_claim) else _groups(userinfo, groups_claim),
        authenticated_at=authenticated_at if isinstance(authenticated_at, int | float) else None,
    )


def _verified_email(claims: Claims) -> str:
    """Return the verified address of one source, or an empty string.
    Sources are not mixed: address and confirmation of different sources may not belong together.
    """
    said = claims.get("email_verified")
    # Some providers send a string instead of a boolean.
    return _text(claims, "email") if said is True or said == "true" else ""


def _text(claims: Claims, name: str) -> str:
    value = claims.get(name)
    return value.strip() if isinstance(value, str) and "\0" not in value else ""


def _has(claims: Claims, name: str) -> bool:
    return _groups(claims, name) is not None


def _groups(claims: Claims, name: str) -> frozenset[str] | None:
    """Return the groups of a claim; None if it is no list or string.
    name: a claim, or a path of names with dots (`realm_access.roles`).
    """
    value: Any = claims.get(name)
    if value is None:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        value = [value]
    return frozenset(one for one in value if isinstance(one, str)) if isinstance(value, list) else None
