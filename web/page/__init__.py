"""The page: HTML shell, login and static modules. It talks to the server through the public contract only."""
