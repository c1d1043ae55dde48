"""The texts of the demo model in each language of the page."""
