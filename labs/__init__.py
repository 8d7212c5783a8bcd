"""The curriculum: small programs to break, and the grammar MLP."""
