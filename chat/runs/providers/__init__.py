"""Use cases of providers: servers of models that staff add on the page, their models, and checks of them (decision 0146)."""
