"""The page that creates the first admin of an instance, behind a link printed at the start (manage.py setup_link).

The link is a signed time that is stored nowhere. It is valid for PASSWORD_RESET_TIMEOUT and while no account is staff.
"""

from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from features.accounts.login_attempt import address_of, link_attempt
from features.accounts.mail import charge_mail
from features.accounts.password_hashing import hashing
from features.accounts.profile import send_confirmation
from features.accounts.reauthentication import require_passwords
from features.accounts.registration import NewAccount, enter
from web.demo_account import DEMO

_SALT: Final = "web.accounts.first_admin"


def needs_first_admin() -> bool:
    """Return whether no account but `demo` is staff. Always False in development, where `demo` may log in."""
    staff = User.objects.filter(is_staff=True).exclude(username=DEMO)
    return not settings.DEVELOPMENT and not staff.exists()


def make_setup_link() -> str:
    """Return the path of a new link to the page."""
    return reverse("first_admin", args=[signing.dumps("first admin", salt=_SALT)])


def is_setup_token(token: str) -> bool:
    """Return whether the token of a setup link is genuine and has not expired."""
    try:
        signing.loads(token, salt=_SALT, max_age=settings.PASSWORD_RESET_TIMEOUT)
    except signing.BadSignature:
        return False
    return True


@method_decorator(never_cache, name="dispatch")
class FirstAdmin(FormView[NewAccount]):
    form_class = NewAccount
    template_name = "accounts/first_admin.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with link_attempt(request) as accept:
            if not (is_setup_token(self.kwargs["token"]) and needs_first_admin()):
                return self._refuse()
            accept()
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: NewAccount) -> HttpResponse:
        require_passwords()
        address = form.cleaned_data["email"]
        confirms = bool(settings.EMAIL_HOST and address)
        if confirms:
            charge_mail(self.request, address)
        with hashing.entered(address_of(self.request)), hashing.slot(), transaction.atomic():
            # If two people have opened the link, the first one becomes the admin.
            ContentType.objects.select_for_update().get(app_label="auth", model="user")
            if not needs_first_admin():
                return self._refuse()
            user = form.make_user(is_staff=True, is_superuser=True, email="" if confirms else address)
        if confirms:
            send_confirmation(user, address)
            return enter(self.request, user, to=f"{reverse('profile')}?notice=sent")
        return enter(self.request, user)

    def _refuse(self) -> HttpResponse:
        return render(self.request, "accounts/first_admin.html", {"form": None}, status=404)
