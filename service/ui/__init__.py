"""Pages for people at `/ui`: the same use cases as the API, rendered on the server."""
