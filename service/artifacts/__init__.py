"""Where bytes are kept: content-addressed artifacts."""
