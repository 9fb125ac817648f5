"""One function per request; each owns its transaction."""
