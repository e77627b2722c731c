"""What can be set, and where it is read from."""
