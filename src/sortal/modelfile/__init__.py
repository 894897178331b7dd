"""The model file: fields declared once; writing, reading, checking follow."""
