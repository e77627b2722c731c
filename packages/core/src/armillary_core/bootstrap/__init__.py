"""Settings → adapters → use cases: the only place that knows which implementation runs."""
