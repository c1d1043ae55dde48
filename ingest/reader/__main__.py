"""The child process: limits itself, reads the file, and writes the outcome into the folder."""

import signal
import sys
from pathlib import Path

from ingest.reader.process_limits import CPU_S, PAGE_CPU_S, limit_this_process
from knowledge.files.reader_process import MAIN_TEXT


def main(content_type: str, folder: Path) -> None:
    # A service manager may tell all processes to end. The parent ends this one, after it has returned the file to the
    # queue.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    limit_this_process(PAGE_CPU_S if content_type == MAIN_TEXT else CPU_S)
    # After the limits, because imports count as well.
    from ingest.reader.file_reader import read

    read(content_type, folder)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
