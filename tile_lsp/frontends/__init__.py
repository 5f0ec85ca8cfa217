"""One package a kernel language."""
