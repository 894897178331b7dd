"""Drawing a tree as boxes and edges."""
