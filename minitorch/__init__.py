"""NumPy autograd in about 400 lines."""
