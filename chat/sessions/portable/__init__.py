"""Sessions as files: exported as JSON or Markdown, parsed strictly and imported. The format is format.py.

Does not contain the content of attached files, and does not share sessions (chat/sessions/sharing.py).
"""
