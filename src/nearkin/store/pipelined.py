"""The driver of PostgreSQL, with one wait per statement.

pg8000 sends a statement with parameters in three parts and waits for the answer to each. Nothing in the later parts
depends on these answers, so they are sent together here: a third of the waiting, whatever the network.
"""

from __future__ import annotations

import functools
import select
from collections.abc import Sequence
from typing import Any

from pg8000 import dbapi
from pg8000.converters import array_out, make_params
from pg8000.core import NULL_BYTE, SYNC_MSG, Context, _flush, _write


class PipelinedConnection(dbapi.Connection):  # type: ignore[misc]  # the driver has no types
    """A connection that waits once for each statement.

    Attributes
    ----------
    n_waits : int
        Number of times it waited for an answer of the server, except while connecting and in COPY.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.n_waits = 0
        super().__init__(*arguments, **options)
        self.register_out_adapter(list, _array)

    def execute_simple(self, statement: str) -> Any:
        """Execute a statement without parameters."""
        self.n_waits += 1
        return super().execute_simple(statement)

    def execute_unnamed(
        self, statement: str, vals: Sequence[Any] = (), oids: Sequence[int] = (), stream: Any = None
    ) -> Any:
        """Execute a statement with parameters; an error in any part ends the statement, as it does in three parts."""
        if stream is not None:
            return super().execute_unnamed(statement, vals=vals, oids=oids, stream=stream)
        self.n_waits += 1
        context = Context(statement)
        self.send_PARSE(NULL_BYTE, statement, oids)
        self.send_DESCRIBE_STATEMENT(NULL_BYTE)
        self.send_BIND(NULL_BYTE, make_params(self.py_types, vals))
        self.send_EXECUTE()
        _write(self._sock, SYNC_MSG)
        _flush(self._sock)
        self.handle_messages(context)
        return context

    def cursor(self) -> _Cursor:
        """Return a cursor."""
        return _Cursor(self)

    def close(self) -> None:
        """Close the connection, also if the server has ended it: an error while connecting would be replaced."""
        was_open = self._usock is not None
        try:
            super().close()
        except dbapi.InterfaceError:  # it is closed all the same
            if not was_open:
                raise

    def is_quiet(self) -> bool:
        """Whether nothing has arrived since the last answer; a server that ends sends a message, or disconnects."""
        watching = select.poll()
        watching.register(self._usock, select.POLLIN)
        return not watching.poll(0)


def _array(values: list[Any]) -> Any:
    """Write an array; numbers all at once, for which the driver calls six functions each."""
    if set(map(type, values)) == {int}:
        return "{" + ",".join(map(str, values)) + "}"
    return array_out(values)


class _Cursor(dbapi.Cursor):  # type: ignore[misc]
    """A cursor that numbers the parameters of each statement only once."""

    def execute(self, operation: str, args: Sequence[Any] = (), stream: Any = None) -> _Cursor:
        if not args or stream is not None or not isinstance(args, list | tuple):
            super().execute(operation, args, stream=stream)
            return self
        if self._c is None or self._c._sock is None:
            raise dbapi.InterfaceError("connection is closed")
        if not self._c._in_transaction and not self._c.autocommit:
            self._c.execute_simple("begin transaction")
        self._context = self._c.execute_unnamed(_numbered(operation), vals=args, oids=self._input_oids)
        self._input_oids: Sequence[int] = ()
        self._row_iter = None if self._context.rows is None else iter(self._context.rows)
        return self


@functools.lru_cache(maxsize=512)
def _numbered(operation: str) -> str:
    """Replace ``%s`` by ``$1``, ``$2``, …: pg8000 reads every statement character by character."""
    statement, _ = dbapi.convert_paramstyle("format", operation, ())
    return str(statement)
