"""`python -m service.cli`."""

from service.cli import app

app()
