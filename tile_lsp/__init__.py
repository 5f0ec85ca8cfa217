"""tile-lsp: what the compiler made of your GPU kernel, in the editor."""
