"""What host code knows, without running it, of the arrays and numbers that it launches kernels with."""
