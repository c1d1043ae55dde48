"""Use cases of knowledge bases: members, documents, deletion."""
