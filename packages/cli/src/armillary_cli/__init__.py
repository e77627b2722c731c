"""The `armillary` command, and the one process that runs everything."""
