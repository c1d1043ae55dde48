"""Files: people upload, list, read, download and delete them. Readers: ingest/; questions with files: chat/turns/files.py."""
