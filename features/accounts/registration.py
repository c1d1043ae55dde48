"""The pages on which people create an account, as the setting REGISTRATION allows: by invitation, or everybody; and the page
that creates the first admin of an instance.

With a mail server, an account is created behind a link that was sent to its address: nobody learns which addresses have
accounts, and no account has an address that is not its user's. The first admin is created behind a link that a start prints
(manage.py setup_link): a signed time that is stored nowhere, valid for PASSWORD_RESET_TIMEOUT and while no account is staff.
"""

import logging
from functools import partial
from typing import Any, Final, NamedTuple

from django import forms
from django.conf import settings
from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.generic import FormView

from chat.models import Invitation, LoginLimit
from features.accounts.login_attempt import address_of, hashing, link_attempt, remember_device
from features.accounts.mail import charge_mail, send_later, send_mail_of
from features.accounts.passwords import password_link_lifetime, read_link, require_passwords
from features.accounts.profile import send_confirmation
from features.accounts.staff_groups import follow_groups
from web.accounts import DEMO, accounts_at, charge, spend
from web.site_origin import site_url

logger = logging.getLogger(__name__)

# (forms at once, seconds after which one more is allowed), by address: a form reveals whether a name is taken.
PER_ADDRESS: Final = (20, 30)
_SALT: Final = "web.accounts.registration"
_SETUP_SALT: Final = "web.accounts.first_admin"


class NewAccount(UserCreationForm[User]):
    """A form that reports a taken name, in any case of its letters, and reveals nothing else about other accounts."""

    class Meta(UserCreationForm.Meta):
        fields = ("username", "email")

    def clean_username(self) -> str:
        name: str = super().clean_username() or ""
        if name.casefold() == DEMO:
            # The demo account has a public password, and is closed outside development.
            raise ValidationError(_("A user with that username already exists."))
        return name

    def make_user(self, **fields: Any) -> User:
        """Hash the password and store the account. Raises IntegrityError if the name was taken meanwhile."""
        for name, value in fields.items():
            setattr(self.instance, name, value)
        user: User = super().save()
        return user


def enter(request: HttpRequest, user: User, to: str = "page") -> HttpResponse:
    """Log in who has just made an account, and redirect. to: an address, or the name of a page."""
    login(request, user)
    response = redirect(to)
    remember_device(response, user.get_username())
    return response


def complete_registration(user: User, invitation: Invitation | None, how: str = "") -> None:
    """Add a new account to the group of its invitation, which may make it staff, and log how it was created.

    how: the words before those about the invitation in the log, with a space at their end.
    """
    by = how + (f"with invitation {invitation.pk}" if invitation else "without an invitation")
    if invitation is not None and invitation.group is not None:
        user.groups.add(invitation.group)
        follow_groups(user)
    LogEntry.objects.create(
        user=user,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(user.pk),
        object_repr=user.get_username(),
        action_flag=ADDITION,
        change_message=f"Registered {by}.",
    )
    logger.info("user %s registered %s", user.pk, by)


class Ticket(NamedTuple):
    """The right to create an account.
    address: the confirmed address of the account; empty if it is not known yet.
    """

    address: str = ""
    invitation: Invitation | None = None


def find_invitation(token: str) -> Invitation | None:
    return None if settings.REGISTRATION == "closed" else Invitation.objects.behind(token)


class AddressForm(forms.Form):
    email = forms.EmailField(max_length=254)


@method_decorator(never_cache, name="dispatch")
class Register(FormView[Any]):
    template_name = "accounts/register.html"
    invitation_token = ""

    def find_ticket(self) -> Ticket | None:
        """Return the right to create an account, or None."""
        return Ticket() if settings.REGISTRATION == "open" else None

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with link_attempt(request) as accept:
            ticket = self.find_ticket()
            if ticket is None:
                return self._refuse()
            accept()
        self.ticket = ticket
        return super().dispatch(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        require_passwords()
        spend([charge(PER_ADDRESS, "registration", address_of(request))])
        LoginLimit.objects.purge()
        return super().post(request, *args, **kwargs)

    def get_form_class(self) -> type[Any]:
        return AddressForm if settings.EMAIL_HOST and not self.ticket.address else NewAccount

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {
            "fixed_address": self.ticket.address,
            "invitation_token": self.invitation_token,
            "is_open": settings.REGISTRATION == "open",
            "asks_for_address": self.get_form_class() is AddressForm,
        }

    def form_valid(self, form: Any) -> HttpResponse:
        if isinstance(form, AddressForm):
            return self._send_link(form.cleaned_data["email"])
        try:
            with hashing.entered(address_of(self.request)), hashing.slot(), transaction.atomic():
                user = self._make_account(form)
        except IntegrityError:
            form.add_error("username", form.instance.unique_error_message(User, ["username"]))
            return self.form_invalid(form)
        if user is None:
            return self._refuse()
        return enter(self.request, user)

    def _make_account(self, form: NewAccount) -> User | None:
        """Return the new account; None if the invitation is used up or the address has an account meanwhile."""
        address, invitation = self.ticket
        if invitation is not None and not Invitation.objects.use(invitation.pk):
            return None
        if address:
            # Of concurrent requests with one link, the first one creates an account.
            ContentType.objects.select_for_update().get(app_label="auth", model="user")
            if accounts_at(address).exists():
                transaction.set_rollback(True)
                return None
        user = form.make_user(email=address or form.cleaned_data["email"])
        complete_registration(user, invitation)
        return user

    def _send_link(self, address: str) -> HttpResponse:
        charge_mail(self.request, address)
        invitation = self.ticket.invitation
        token = signing.dumps([address, invitation and invitation.pk], salt=_SALT)
        link, login = (
            site_url(path) for path in (reverse("register_confirmed", args=[token]), reverse("login"))
        )
        send_later(partial(_send, address, link, login))
        return HttpResponseRedirect(reverse("register_sent"))

    def _refuse(self) -> HttpResponse:
        context = {"form": None, "is_open": settings.REGISTRATION == "open"}
        return render(self.request, "accounts/register.html", context, status=404)


class RegisterInvited(Register):
    """Registration with the link of an invitation. An invitation that was sent by e-mail confirms its address."""

    def find_ticket(self) -> Ticket | None:
        invitation = find_invitation(self.kwargs["token"])
        self.invitation_token = self.kwargs["token"]
        return Ticket(invitation.email, invitation) if invitation else None


class RegisterConfirmed(Register):
    """Registration with the link that was sent to the address of the account."""

    def find_ticket(self) -> Ticket | None:
        content = read_link(self.kwargs["token"], _SALT)
        if content is None:
            return None
        address, pk = content
        invitation = Invitation.objects.usable().filter(pk=pk).first() if pk else None
        allowed = settings.REGISTRATION == "open" if pk is None else settings.REGISTRATION != "closed"
        if not allowed or (pk and invitation is None) or accounts_at(address).exists():
            return None
        return Ticket(address, invitation)


def _send(address: str, link: str, login: str) -> None:
    """Send the e-mail in the active language of the thread. It says whether the address has an account."""
    context = {
        "link": link,
        "login": login,
        "has_account": accounts_at(address).exists(),
        "valid_for": password_link_lifetime(),
    }
    send_mail_of("register", address, context)


def needs_first_admin() -> bool:
    """Return whether no account but `demo` is staff. Always False in development, where `demo` may log in."""
    staff = User.objects.filter(is_staff=True).exclude(username=DEMO)
    return not settings.DEVELOPMENT and not staff.exists()


def make_setup_link() -> str:
    """Return the path of a new link to the page."""
    return reverse("first_admin", args=[signing.dumps("first admin", salt=_SETUP_SALT)])


def is_setup_token(token: str) -> bool:
    """Return whether the token of a setup link is genuine and has not expired."""
    return read_link(token, _SETUP_SALT) is not None


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
