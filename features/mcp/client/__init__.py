"""The client of the Model Context Protocol: connections of this process to the servers that staff have entered.

The SDK takes a second to import: modules that use it are imported only once they are needed.
"""
