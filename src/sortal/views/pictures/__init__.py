"""What is drawn of a model in a report: pictures with words and their data."""
