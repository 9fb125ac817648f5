"""HTTP: one module per resource, all errors as problem+json; no SQL and no learning here."""
