"""What every text goes through: its encoding, language and normal form, and its division into chunks. Pure."""
