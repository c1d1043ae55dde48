"""Settings that keep private data out of the embedded Postgres's log. docs/operations.md advises them for others."""

from typing import Final

# No statement, parameter or row in the log, whatever fails: they hold hashes of passwords, addresses and users' texts.
QUIET_LOG: Final = (
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_parameter_max_length_on_error=0",
    "log_statement=none",
    "log_min_duration_statement=-1",
)
