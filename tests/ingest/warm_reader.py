"""What tests preload for the reader of files (tests/preloaded.py): its modules and the vocabularies that it counts with."""

from importlib import import_module

from chat.transcript.tokens import installed_encodings, load_encoding
from tests.instance import ROOT

for path in (ROOT / "ingest" / "reader").glob("[!_]*.py"):
    import_module(f"ingest.reader.{path.stem}")
for encoding in installed_encodings():
    load_encoding(encoding)
