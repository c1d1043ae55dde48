"""A code of an app beside the password (TOTP), with recovery codes, by django-allauth: decision 0123."""
