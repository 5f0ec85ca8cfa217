"""LLVM, by llvmlite, in a process of its own: started by path for one question, and gone after the answer.

LLVM ends its process where it meets what it has no code for, and its options are the process's: no server could hold
it. Imports nothing of ours and is imported by nobody.
"""
