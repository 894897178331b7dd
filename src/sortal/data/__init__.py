"""Tables: columns and their kinds, blocks of rows, where they come from, bundled data sets."""
