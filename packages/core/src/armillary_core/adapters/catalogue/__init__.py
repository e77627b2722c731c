"""The catalogue's adapters and its migrations."""
