"""The archive of everything that an account holds."""
