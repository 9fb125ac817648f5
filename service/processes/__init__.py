"""Guarded child processes: native code, hostile files and long fits run where they can be killed.

A *nursery* is a small process without threads that has the heavy modules loaded; each child is forked from
it in about 10 ms. (A fresh interpreter would need 1-2 s for the imports, and a fork of the calling process
would copy locks that its other threads hold.)
"""
