"""The scikit-learn interface, written once: tables, labels, summaries, saving."""
