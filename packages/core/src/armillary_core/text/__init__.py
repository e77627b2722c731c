"""Pure functions over text; no I/O, no library of the outside but the stemmer."""
