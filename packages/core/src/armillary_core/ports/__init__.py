"""What the inside needs from the outside: one Protocol a file, with the promises a contract suite proves."""
