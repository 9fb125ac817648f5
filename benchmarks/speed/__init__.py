"""How fast Costboost is beside named peers on this machine: `make bench`, `make bench-full`.

One module per area; each returns tables of samples, from which `page` writes docs/benchmarks/speed.md.
"""
