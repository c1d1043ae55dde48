"""Accounts: logins, passwords, second factors, passkeys, OpenID Connect, registration, and their end."""
