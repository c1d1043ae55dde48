"""Use cases of providers: model servers that staff add on the page, their models, and their checks (decision 0146)."""
