"""The working of a node: every test that it could have asked."""
