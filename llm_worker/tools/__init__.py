"""The tools of models. A tool is a folder: its card in `__init__.py`, which every process reads, and the tool in `tool.py`.

Adding one takes the folder and a line of `TOOLS` in config/settings.py.
"""
