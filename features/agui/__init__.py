"""AG-UI: its run inputs become turns, and the packets of runs its events, for frontends of agents that speak it.

https://docs.ag-ui.com/spec/1.0
"""
