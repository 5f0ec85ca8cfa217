"""tile-lsp: what the compiler made of your GPU kernel, in the editor."""

__version__ = "0.1.0"
