"""Compiled inner loops. They check nothing: whoever calls them has checked shapes, types and ranges."""
