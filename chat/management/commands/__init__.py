"""create_token, create_user, sweep_runs and sync_models. Commands call use cases and contain no rules of their own."""
