"""The passkeys of an account, as rows of allauth's table, and the two ceremonies of WebAuthn.
Rows contain no secret: only a public key, and what the browser said about it.

A ceremony has two requests: the options for the browser, and the check of its answer. A site has passkeys of its domain (the
RP id of WebAuthn), and answers must name its origin. The session holds the challenge for one answer. fido2 is loaded by the
first request that needs it.
"""

import hashlib
import json
import logging
import struct
import time
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import DisallowedHost
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from features.accounts.mail import notify_of_passkeys
from features.accounts.second_factor import delete_factors, first_recovery_codes, lock
from web.site_origin import LOCALHOST

logger = logging.getLogger(__name__)

MAX_PASSKEYS: Final = 20
MAX_NAME_CHARACTERS: Final = 60
MAX_AGE_S: Final = 300
MAX_ANSWER_CHARACTERS: Final = 16_384
# In the session: the challenge, its purpose, and the time when it was made.
CHALLENGE: Final = "passkey_challenge"
# Exceptions that fido2 raises for malformed answers, which no browser sends.
MALFORMED: Final = (
    ApiError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
)


class TooManyPasskeys(Exception):
    """The account already has MAX_PASSKEYS."""


def passkeys_of(user: Any) -> Any:
    return Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.WEBAUTHN).order_by("pk")


def add(user: Any, fields: dict[str, Any]) -> list[str]:
    """Store a passkey; return recovery codes if the account had none. Raises TooManyPasskeys.

    fields: name, domain, key, sign_count, is_discoverable.
    """
    with transaction.atomic():
        lock(user)
        if passkeys_of(user).count() >= MAX_PASSKEYS:
            raise TooManyPasskeys
        row = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=fields)
        codes = first_recovery_codes(user)
    logger.info("user %s: passkey %s added", user.pk, row.pk)
    notify_of_passkeys(user)
    return codes


def rename(user: Any, pk: int, name: str) -> None:
    with transaction.atomic():
        for row in passkeys_of(user).select_for_update().filter(pk=pk):
            passkeys_of(user).filter(pk=pk).update(data=row.data | {"name": name})


def remove(user: Any, pk: int) -> None:
    """Delete a passkey of the user, and the recovery codes with the last second factor."""
    if delete_factors(user, passkeys_of(user).filter(pk=pk)):
        logger.info("user %s: passkey %s removed", user.pk, pk)
        notify_of_passkeys(user)


def use(pk: int, *, sign_count: int, challenge: str) -> str | None:
    """Record that the passkey answered the challenge; return the reason if the answer is refused, else None.

    A counter that does not increase belongs to a copy. Zero means that the authenticator does not count, as
    synchronised ones do not.
    """
    answered = hashlib.sha256(challenge.encode()).hexdigest()
    with transaction.atomic():
        row = Authenticator.objects.select_for_update().filter(pk=pk).first()
        if row is None:
            return "removed meanwhile"
        if row.data.get("answered") == answered:
            return "the challenge was answered before"
        known = row.data["sign_count"]
        if (known or sign_count) and sign_count <= known:
            return f"its counter went from {known} to {sign_count}"
        data = row.data | {"answered": answered, "sign_count": sign_count}
        Authenticator.objects.filter(pk=pk).update(data=data, last_used_at=timezone.now())
    return None


def owner_of(handle: str) -> User | None:
    """Return the user whom the user handle of a passkey names, or None."""
    is_id = handle.isascii() and handle.isdigit() and len(handle) < 19
    return User.objects.filter(pk=int(handle)).first() if is_id else None


def has_passkeys(request: HttpRequest) -> bool:
    """Return whether browsers can use passkeys at the address of the request: a host name, over HTTPS or localhost."""
    if not settings.PASSWORD_LOGIN:
        return False  # the provider alone decides who may log in
    host = _host(request)
    is_safe = request.is_secure() or host == "localhost" or host.endswith(".localhost")
    return is_safe and _address(host) is None and _is_within(host, domain_of(request))


def address_with_passkeys(request: HttpRequest) -> str:
    """Return the address of the page at localhost if the request came to an IP address of this machine; else empty."""
    address = _address(_host(request))
    if request.is_secure() or address is None or not address.is_loopback:
        return ""
    # As at the address that a start prints (web/site_origin.py).
    there = HttpRequest()
    there.META = {**request.META, "HTTP_HOST": request.get_host().lower().replace(_host(request), LOCALHOST)}
    try:
        return there.build_absolute_uri(request.path) if has_passkeys(there) else ""
    except DisallowedHost:
        return ""


def domain_of(request: HttpRequest) -> str:
    """Return the RP id: PASSKEY_DOMAIN, or the host of the request, which ALLOWED_HOSTS limits."""
    return settings.PASSKEY_DOMAIN or _host(request)


def origin_of(request: HttpRequest) -> str:
    """Return the origin of the pages as the browser sees it. A trusted proxy tells whether that is HTTPS."""
    return f"{request.scheme}://{request.get_host().lower()}"


def _host(request: HttpRequest) -> str:
    host = request.get_host().lower()
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


class PasskeyRefused(Exception):
    """The browser's answer is not accepted. The message is for the log."""


def begin_addition(request: HttpRequest, user: Any) -> dict[str, Any]:
    """Return the options of navigator.credentials.create() as JSON. Raises PasskeyRefused where there are no passkeys."""
    options, state = _server(request).register_begin(
        {"id": str(user.pk).encode(), "name": user.get_username(), "displayName": str(user)},
        list(_stored_keys(request, user).values()),
        resident_key_requirement="preferred",
        user_verification="preferred",
        extensions={"credProps": True},
    )
    _store_challenge(request, state, "add", user.pk)
    return _as_json(options)


def finish_addition(request: HttpRequest, user: Any, answer: str) -> dict[str, Any]:
    """Check the answer and return the fields of the new passkey, except its name. Raises PasskeyRefused."""
    state, server = _pop_challenge(request, "add", user.pk), _server(request)
    try:
        credential = decode(answer)
        data = server.register_complete(state, credential)
        key = data.credential_data
        offered = [algorithm.alg for algorithm in server.allowed_algorithms]
        if key is None or key.public_key[3] not in offered:
            raise PasskeyRefused("its key is of an unknown algorithm")
        properties = credential.get("clientExtensionResults", {}).get("credProps", {})
        is_discoverable = properties.get("rk")
    except MALFORMED as error:
        raise PasskeyRefused(f"not added: {error!r}") from error
    return {
        "domain": domain_of(request),
        "key": bytes(key).hex(),
        "sign_count": data.counter,
        "is_discoverable": is_discoverable if isinstance(is_discoverable, bool) else None,
    }


def begin_login(request: HttpRequest, user: Any = None) -> dict[str, Any]:
    """Return the options of navigator.credentials.get() as JSON. Raises PasskeyRefused.

    user: the user who has given the password; None: any user. Without a password the passkey must verify its user, by a
    PIN or biometrics.
    """
    options, state = _server(request).authenticate_begin(
        list(_stored_keys(request, user).values()) if user else None,
        user_verification="preferred" if user else "required",
    )
    _store_challenge(request, state, "login", user and user.pk)
    return _as_json(options)


def finish_login(request: HttpRequest, answer: str, user: Any = None) -> Any:
    """Return the user whose passkey has answered, and record its use. user: as for begin_login().
    Raises PasskeyRefused.
    """
    state, server = _pop_challenge(request, "login", user and user.pk), _server(request)
    try:
        response = _authentication_response(answer)
        named = owner_of((response.response.user_handle or b"").decode())
        owner = user or named
        if owner is None or (named is not None and named.pk != owner.pk):
            raise PasskeyRefused("it belongs to another account, or to none")
        keys = _stored_keys(request, owner)
        used = server.authenticate_complete(state, list(keys.values()), response)
        pk = next(pk for pk, key in keys.items() if key is used)
        counter = response.response.authenticator_data.counter
    except MALFORMED as error:
        raise PasskeyRefused(f"not accepted: {error!r}") from error
    if why := use(pk, sign_count=counter, challenge=state["challenge"]):
        raise PasskeyRefused(f"user {owner.pk}, passkey {pk}: {why}")
    logger.info("user %s: passkey %s used", owner.pk, pk)
    return owner


def has_usable_passkey(request: HttpRequest, user: Any) -> bool:
    """Return whether the user has a passkey of this site, and browsers use passkeys at its address."""
    own = passkeys_of(user).filter(data__domain=domain_of(request))
    return has_passkeys(request) and own.exists()


def _authentication_response(answer: str) -> Any:
    from fido2.webauthn import AuthenticationResponse

    return AuthenticationResponse.from_dict(decode(answer))


def _server(request: HttpRequest) -> Any:
    if not has_passkeys(request):
        raise PasskeyRefused("not at this address")
    from fido2.server import Fido2Server
    from fido2.webauthn import PublicKeyCredentialRpEntity

    origin = origin_of(request)
    party = PublicKeyCredentialRpEntity(id=domain_of(request), name="Turnwire")
    return Fido2Server(party, verify_origin=lambda named: named == origin)


def _stored_keys(request: HttpRequest, user: Any) -> dict[int, Any]:
    from fido2.webauthn import AttestedCredentialData

    rows = passkeys_of(user).filter(data__domain=domain_of(request))
    return {row.pk: AttestedCredentialData(bytes.fromhex(row.data["key"])) for row in rows}


def _store_challenge(request: HttpRequest, state: Any, purpose: str, user: int | None) -> None:
    request.session[CHALLENGE] = {**state, "purpose": purpose, "user": user, "at": time.time()}


def _pop_challenge(request: HttpRequest, purpose: str, user: int | None) -> dict[str, Any]:
    state: dict[str, Any] = request.session.pop(CHALLENGE, {})
    if (state.get("purpose"), state.get("user")) != (purpose, user):
        raise PasskeyRefused("nothing was asked")
    if time.time() - state["at"] > MAX_AGE_S:
        raise PasskeyRefused("the answer came too late")
    return state


def _as_json(options: Any) -> dict[str, Any]:
    """Return fido2's options as plain JSON values. fido2's own mappings only serialise through json.dumps()."""
    made: dict[str, Any] = json.loads(json.dumps(dict(options)))["publicKey"]
    return made
