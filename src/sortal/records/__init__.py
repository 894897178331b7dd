"""Tables, workings and explanations, and their text, Markdown and HTML."""
