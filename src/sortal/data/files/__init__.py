"""Files: reading and writing tables of any common kind."""
