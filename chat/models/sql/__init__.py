"""Raw SQL of every turn: each statement beside the NamedTuple of its rows and the plan it needs.

It imports no model, and decides nothing: methods of the models call it.
"""
