"""Raw SQL statements, with NamedTuples for the rows that they return."""
