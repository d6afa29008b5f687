# SPDX-License-Identifier: Apache-2.0
"""Compares the Parquet files of a folder with a Parquet file: compare.py FILE FOLDER.

The first six bytes of an id are the number of its row in the file.
"""

import glob
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def storage(column):
    """Returns a column as one array without an extension type."""
    array = pa.concat_arrays(column.chunks) if column.num_chunks != 1 else column.chunk(0)
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def ids_of(column):
    """Returns ids as rows of 16 bytes."""
    array = storage(column)
    assert array.null_count == 0, "an id is NULL"
    data = np.frombuffer(array.buffers()[1], np.uint8, 16 * len(array), 16 * array.offset)
    return data.reshape(-1, 16)


def vectors_of(column):
    """Returns which vectors are not NULL, and vectors as rows of the bits of their elements, 0 for NULL."""
    array = storage(column)
    present = array.is_valid().to_numpy(zero_copy_only=False)
    bits = array.flatten().to_numpy().view(np.uint32)  # without those of NULLs
    rows = np.zeros((len(array), len(bits) // max(1, present.sum())), np.uint32)
    rows[present] = bits.reshape(present.sum(), -1)
    return present, rows


def main(source, folder):
    seen = np.zeros(pq.ParquetFile(source).metadata.num_rows, bool)
    want = pq.read_table(source)
    want_ids, (want_present, want_vectors) = ids_of(want["id"]), vectors_of(want["v"])
    assert not want_present.all() and want["text"].null_count > 0, "the file has no NULLs"
    want_texts = storage(want["text"])
    for path in sorted(glob.glob(folder + "/part-*.parquet")):
        got = pq.ParquetFile(path).read()
        ids = ids_of(got["id"])
        rows = np.zeros(len(ids), np.int64)
        for i in range(6):
            rows = rows << 8 | ids[:, i]
        assert not seen[rows].any(), f"{path}: a row is in two parts"
        seen[rows] = True
        assert seen[rows].sum() == len(np.unique(rows)) == len(rows), f"{path}: a row is there twice"
        assert (want_ids[rows] == ids).all(), f"{path}: an id differs"
        present, vectors = vectors_of(got["v"])
        assert (want_present[rows] == present).all(), f"{path}: a vector is NULL in one of both"
        assert (want_vectors[rows][present] == vectors[present]).all(), f"{path}: a vector differs"
        assert want_texts.take(pa.array(rows)).equals(storage(got["text"])), f"{path}: a text differs"
    assert seen.all(), f"{np.count_nonzero(~seen)} rows are missing"
    print(len(seen), "rows are equal")


main(*sys.argv[1:])
