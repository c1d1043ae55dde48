"""Links that confirm an e-mail address: it is stored when its user, logged in, opens the link that was sent to it."""

from functools import partial
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core import signing
from django.core.mail import send_mail
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from features.accounts.mail import send_later
from features.accounts.password_links import password_link_lifetime
from web.site_origin import site_url

_SALT: Final = "web.accounts.profile"


def send_confirmation(user: User, address: str) -> None:
    """Send a link that makes `address` the address of `user`. Raises ApiError as send_later() does."""
    token = signing.dumps([user.pk, user.email, address], salt=_salt(user))
    link = site_url(reverse("confirm_address", args=[token]))
    send_later(partial(_send, address, link))


@require_safe
@never_cache
@login_required
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Store the address that the link was sent to.
    The link must be valid, and its user must be logged in and still have the address and the password of the time when
    it was sent.
    """
    try:
        user, old, new = signing.loads(
            token, salt=_salt(request.user), max_age=settings.PASSWORD_RESET_TIMEOUT
        )
    except (signing.BadSignature, TypeError, ValueError):
        user = old = new = None
    own = User.objects.filter(username=request.user.get_username())
    if user != request.user.pk or not own.filter(email=old).update(email=new):
        return render(request, "accounts/address_link.html", status=404)
    notify_former(old, request.user.get_username())
    return redirect(f"{reverse('profile')}?notice=address")


def _salt(user: Any) -> str:
    """Return the salt of the user's links: who asked for one with a former password may have been somebody else."""
    return f"{_SALT}.{user.get_session_auth_hash()}"


def notify_former(address: str, name: str) -> None:
    """Tell a former address that the account `name` has another one now.
    Without an address or a mail server, do nothing.
    """
    if settings.EMAIL_HOST and address:
        send_later(partial(send_mail_of, "former_address", address, {"name": name}))


def _send(address: str, link: str) -> None:
    """Send the e-mail with the link, in the active language of the thread."""
    send_mail_of("address", address, {"link": link, "valid_for": password_link_lifetime()})


def send_mail_of(template: str, address: str, context: dict[str, str]) -> None:
    """Send the e-mail of accounts/<template>_mail.txt and its subject template, in the active language of the thread."""
    subject = render_to_string(f"accounts/{template}_mail_subject.txt", context).strip()
    send_mail(subject, render_to_string(f"accounts/{template}_mail.txt", context), None, [address])
