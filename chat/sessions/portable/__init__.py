"""Sessions as files: exported as JSON or Markdown, parsed strictly and imported. The format is format.py.

With the contents of attached files they are zip archives (archive_writer.py, archive_reader.py), whose contents
features/transfer/session_archives.py stores; archive_reader.py bounds any zip. Does not share sessions (features/sharing).
"""
