"""What the requests of one user may take of a web process at a time: half of the database connections at most, so that others
always find one (decision 0160).

Requests beyond that wait for one of the same user to end, without a connection, and are refused with 429 after some time.
"""

from typing import Final

from web.rest.user_slots import UserSlots

# Short ones: a client that sends many side by side is served in turns.
REQUESTS: Final = UserSlots(8, waiting=100, wait_s=20.0)
# Those that may take seconds: searches, whole branches and trees, texts of files, sums over all rows of a user.
EXPENSIVE: Final = UserSlots(2, waiting=10, wait_s=10.0)
# Those whose JSON may hold megabytes of text, which takes the processor of this process for a good part of a second.
LONG_BODIES: Final = UserSlots(2, waiting=100, wait_s=20.0)
# Of the owner, by anonymous readers of shared links.
SHARED: Final = UserSlots(4, waiting=50, wait_s=10.0)
# Pages of the admin, by their member of the staff.
ADMIN: Final = UserSlots(4, waiting=20, wait_s=10.0)
# Of streams, until the last byte is sent, mostly without a connection of the database. A browser opens six
# connections to a host.
DOWNLOADS: Final = UserSlots(8)
EXPORTS: Final = UserSlots(2)
