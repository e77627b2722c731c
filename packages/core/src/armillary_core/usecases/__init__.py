"""One verb a file: what Armillary does, in terms of ports."""
