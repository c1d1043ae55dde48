"""Raw statements beside the NamedTuples of what they return."""
