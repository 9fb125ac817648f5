"""A connection to PostgreSQL that does not wait for ever for an answer.

A link that stalls but is still acknowledged outlives every keepalive, and the server's own limit of a
statement is of no use to who cannot hear it. So the client has a deadline of its own.
"""

from typing import Any

from psycopg import Connection, OperationalError
from psycopg.errors import _WaitTimeout

#: A connection that comes out of the pool is asked whether it lives; that is answered at once or never.
PROBE_SECONDS = 3.0


class ImpatientConnection(Connection[Any]):
    """A connection that is closed when an answer does not come in time.

    Attributes
    ----------
    answer_seconds : float
        How long an answer is waited for.
    """

    answer_seconds = PROBE_SECONDS

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for the end of what is under way on the connection.

        Raises
        ------
        OperationalError
            The server has not answered in time; the connection is closed, for nobody knows what it did.
        """
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_seconds)
        except _WaitTimeout:
            self.pgconn.finish()
            raise OperationalError("the server did not answer in time") from None
