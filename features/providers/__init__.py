"""Servers of models that staff add on the page, with their keys, and checks of them."""
