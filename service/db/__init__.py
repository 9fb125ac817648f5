"""SQL: the tables, and one module of queries per resource."""
