"""Login with an OpenID Connect provider, through django-allauth: decision 0139."""
