"""The page: HTML shell, login and static modules. It communicates with the server only through the public contract."""
