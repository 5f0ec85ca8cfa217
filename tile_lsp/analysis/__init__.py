"""Text to facts: kernels, closures, versions, and readers of what compilers write. Pure; no I/O but the readers it is
given.
"""
