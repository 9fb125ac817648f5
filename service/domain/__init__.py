"""Values, rules and errors of the service: no HTTP, no SQL."""
