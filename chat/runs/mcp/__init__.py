"""Servers of the Model Context Protocol that staff enter: what a row may say, changes, and the listing of tools."""
