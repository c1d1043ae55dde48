"""What every text goes through: its encoding, language and normal form, and its division into chunks; what is counted in its file. Pure."""
