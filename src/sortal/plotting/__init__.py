"""Drawing that Displays share, and Displays of any classifier."""
