"""The database backend: Django's PostgreSQL backend with a pool that reconnects as soon as Postgres is available."""
