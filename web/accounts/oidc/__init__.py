"""Log in with a provider of OpenID Connect, by django-allauth: decision 0139."""
