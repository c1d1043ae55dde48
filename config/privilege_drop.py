"""Run a command in a given directory under another user id and group id, with no supplementary groups.

The directory is entered while the process is still root: the command's own `/proc/self/cwd` then names it even if
a folder above it is closed to the new user id. Run as a program, with the standard library only.
"""

import os
import signal
import sys

EX_NOPERM = 77


def main(arguments: list[str]) -> int:
    """Run the command. arguments: directory, user id, group id, absolute path of the program, its arguments."""
    directory, uid, gid, *command = arguments
    # A Ctrl-C before exec must end the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        os.chdir(directory)
        os.setgroups([])
        os.setgid(int(gid))
        os.setuid(int(uid))
        os.execv(command[0], command)  # noqa: S606  no shell is wanted
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]} as user id {uid}: {error.strerror}\n")
    return EX_NOPERM


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
