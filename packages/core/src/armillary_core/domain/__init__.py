"""Values and rules of Armillary; standard library only."""
