"""What decisions cost on real tables: the default algorithm, every other of ours, and named peers."""
