"""Leave-one-out for Gaussian classes, computed without refitting."""
