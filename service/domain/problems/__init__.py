"""What each code of an error means and what to do; the pages under `/problems/` are made of it."""
