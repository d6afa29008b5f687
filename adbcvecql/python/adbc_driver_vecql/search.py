# SPDX-License-Identifier: Apache-2.0

"""The rows of a table nearest to vectors, as a table of Arrow."""

from __future__ import annotations

from typing import Optional, Sequence

import adbc_driver_manager
import adbc_driver_manager.dbapi
import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["search"]


def search(
    conn: adbc_driver_manager.dbapi.Connection,
    table: str,
    queries: npt.ArrayLike,
    k: int = 10,
    *,
    column: Optional[str] = None,
    columns: Sequence[str] = (),
    filter: Optional[str] = None,
    min_score: Optional[float] = None,
    metric: Optional[str] = None,
    exact: bool = False,
) -> pa.Table:
    """Return the k rows nearest to each query, the nearest first.

    table is a name in CQL, such as shop.items. column is its column of vectors, which a table with one such column does
    not need. queries is one vector, or an array with a vector in each row. columns are the columns to read, by default
    all. The result also has query (the number of the query), rank (from 1), score (the similarity of the server; greater
    is nearer) and distance.

    filter is a condition such as "price < 20 and in_stock". min_score leaves out rows with a lower score. metric is
    "cosine", "l2" or "dot"; an index has its own. exact reads the table in place of the index.

    Errors are classes of adbc_driver_manager: ProgrammingError for a wrong argument, and for an index that does not exist
    or does not serve yet.
    """
    matrix = np.ascontiguousarray(np.atleast_2d(np.asarray(queries)), dtype=np.float32)
    if matrix.ndim != 2:
        raise ValueError(f"queries have {matrix.ndim} dimensions, want 1 or 2")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1])
    options = {
        "vecql.search": f"{table}({column})" if column else table,
        "vecql.search.k": str(k),
        "vecql.search.columns": ",".join(columns),
        "vecql.search.filter": filter or "",
        "vecql.search.min_score": "" if min_score is None else repr(float(min_score)),
        "vecql.search.metric": metric or "",
        "vecql.search.exact": "true" if exact else "false",
    }
    with adbc_driver_manager.AdbcStatement(conn.adbc_connection) as statement:
        statement.set_options(**options)
        statement.bind(pa.record_batch({"query": vectors}))
        stream, _ = statement.execute_query()
        return pa.RecordBatchReader.from_stream(stream).read_all()
