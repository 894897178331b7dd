"""What `inspect` is made of: profiles of columns, and findings."""
