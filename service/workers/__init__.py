"""Worker processes: what happens between the queue and a fit."""
