"""A code of an app beside the password (TOTP), with recovery codes, through django-allauth: decision 0123."""
