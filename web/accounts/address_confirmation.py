"""Links that confirm an e-mail address: it holds when the link that was sent there is opened by its user, logged in."""

from functools import partial
from typing import Final

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

from web.accounts.mail import send_later
from web.accounts.password_links import password_link_lifetime
from web.site_origin import site_url

_SALT: Final = "web.accounts.profile"


def send_confirmation(user: User, address: str) -> None:
    """Send a link that makes `address` that of `user`, who has another one or none. Raises ApiError as send_later()."""
    token = signing.dumps([user.pk, user.email, address], salt=_SALT)
    link = site_url(reverse("confirm_address", args=[token]))
    send_later(partial(_send, address, link))


@require_safe
@never_cache
@login_required
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Store the address that the link was sent to, if its user opens it in time and has the address of then."""
    try:
        user, old, new = signing.loads(token, salt=_SALT, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except (signing.BadSignature, TypeError, ValueError):
        user = old = new = None
    own = User.objects.filter(username=request.user.get_username())
    if user != request.user.pk or not own.filter(email=old).update(email=new):
        return render(request, "web/address_link.html", status=404)
    notify_former(old, request.user.get_username())
    return redirect(f"{reverse('profile')}?notice=address")


def notify_former(address: str, name: str) -> None:
    """Tell a former address that the account `name` has another one, if it had one and e-mail is sent."""
    if settings.EMAIL_HOST and address:
        send_later(partial(send_mail_of, "former_address", address, {"name": name}))


def _send(address: str, link: str) -> None:
    """In the language of the thread."""
    send_mail_of("address", address, {"link": link, "valid_for": password_link_lifetime()})


def send_mail_of(template: str, address: str, context: dict[str, str]) -> None:
    """Render web/<template>_mail.txt and its subject, in the language of the thread."""
    subject = render_to_string(f"web/{template}_mail_subject.txt", context).strip()
    send_mail(subject, render_to_string(f"web/{template}_mail.txt", context), None, [address])
