"""Logging in and what an account may do: limits on failed logins, the bound on password hashing, the demo account."""
