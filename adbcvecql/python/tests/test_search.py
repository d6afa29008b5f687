# SPDX-License-Identifier: Apache-2.0

"""Tests of searches, and of the example of LangChain. VECQL_URI names a cluster and a keyspace."""

import importlib.util
import os
import pathlib
import zlib

import adbc_driver_manager
import pyarrow as pa
import pytest

from adbc_driver_vecql import dbapi

np = pytest.importorskip("numpy")
from adbc_driver_vecql.search import search  # noqa: E402

DIM, ROWS = 8, 60


@pytest.fixture
def conn():
    with dbapi.connect(os.environ["VECQL_URI"]) as connection:
        yield connection


@pytest.fixture
def vectors(conn):
    """Fill a table, and return its vectors."""
    out = np.random.default_rng(1).standard_normal((ROWS, DIM)).astype(np.float32)
    with conn.cursor() as cur:
        cur.execute("DROP TABLE IF EXISTS near")
        cur.execute(f"CREATE TABLE near (id int PRIMARY KEY, even boolean, v vector<float, {DIM}>)")
        cur.execute("CREATE CUSTOM INDEX ON near (v) USING 'sai' WITH OPTIONS = {'similarity_function': 'dot_product'}")
        cur.execute("CREATE INDEX ON near (even) USING 'sai'")
        cur.adbc_ingest("near", pa.table({
            "id": pa.array(range(ROWS), pa.int32()), "even": [i % 2 == 0 for i in range(ROWS)],
            "v": pa.FixedSizeListArray.from_arrays(pa.array(out.ravel()), DIM),
        }), mode="append")
    return out


@pytest.mark.parametrize("exact", [False, True])
def test_search(conn, vectors, exact):
    queries = np.random.default_rng(2).standard_normal((3, DIM))  # of float64
    got = search(conn, "near", queries, 5, column="v", columns=["id"], exact=exact)
    assert got.column_names == ["id", "query", "rank", "score", "distance"]
    dots = queries.astype(np.float32) @ vectors.T
    want = np.argsort(-dots, axis=1)[:, :5]
    assert np.array_equal(np.array(got["id"]).reshape(3, 5), want)
    assert np.allclose(np.array(got["distance"]).reshape(3, 5), -np.take_along_axis(dots, want, axis=1), atol=1e-5)
    assert np.array(got["query"]).tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert np.array(got["rank"]).tolist() == [1, 2, 3, 4, 5] * 3


def test_one_query_with_filter_and_bound(conn, vectors):
    got = search(conn, "near", vectors[7], ROWS, filter="even = true", min_score=0.5)
    assert got.num_rows > 0
    assert all(np.array(got["even"])) and min(np.array(got["score"])) >= 0.5
    assert got.schema.field("v").type.list_size == DIM


def test_refused(conn, vectors):
    for arguments in ({"k": 0}, {"filter": "even ="}, {"metric": "hamming"}, {"metric": "cosine"}, {"columns": ["w"]}):
        with pytest.raises(adbc_driver_manager.ProgrammingError):
            search(conn, "near", vectors[0], **arguments)
    with pytest.raises(adbc_driver_manager.ProgrammingError, match="dimension"):
        search(conn, "near", vectors[0][:3])
    with pytest.raises(ValueError):
        search(conn, "near", np.zeros((2, 2, DIM)))


def test_column_of_the_result(conn):
    with conn.cursor() as cur:
        cur.execute("DROP TABLE IF EXISTS scored")
        cur.execute("CREATE TABLE scored (id int PRIMARY KEY, score float, v vector<float, 2>)")
        cur.execute("INSERT INTO scored (id, score, v) VALUES (?, ?, ?)", (1, 0.5, [1, 0]))
    with pytest.raises(adbc_driver_manager.ProgrammingError, match="select other columns by vecql.search.columns"):
        search(conn, "scored", [1, 0], exact=True, metric="dot")
    assert search(conn, "scored", [1, 0], exact=True, metric="dot", columns=["id"])["score"].to_pylist() != [0.5]


def test_langchain(conn):
    pytest.importorskip("langchain_core")
    from langchain_core.embeddings import Embeddings

    class Words(Embeddings):
        """Hashes the words of a text into 96 elements."""

        def embed_query(self, text):
            v = [0.0] * 96
            for word in text.lower().split():
                v[zlib.crc32(word.encode()) % 96] += 1
            return v

        def embed_documents(self, texts):
            return [self.embed_query(text) for text in texts]

    path = pathlib.Path(__file__).parent.parent / "examples" / "langchain_store.py"
    spec = importlib.util.spec_from_file_location("langchain_store", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with conn.cursor() as cur:
        cur.execute("DROP TABLE IF EXISTS docs")
        cur.execute("CREATE TABLE docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 96>, lang text)")
        cur.execute("CREATE CUSTOM INDEX ON docs (embedding) USING 'sai' WITH OPTIONS = {'similarity_function': 'cosine'}")
        cur.execute("CREATE INDEX ON docs (lang) USING 'sai'")
    store = module.VecqlStore.from_texts(
        ["blue paint for walls", "blue shoes", "blue paint"], Words(), [{"lang": "en", "n": 1}, {"lang": "en"}, {"lang": "fr"}],
        ids=["a", "b", "c"], conn=conn, table="docs")
    assert [d.id for d in store.similarity_search("blue paint", k=3)] == ["c", "a", "b"]
    (document, score), *_ = store.similarity_search_with_score("blue paint", filter="lang = 'en'")
    assert (document.id, document.page_content, document.metadata) == ("a", "blue paint for walls", {"lang": "en", "n": 1})
    assert 0.8 < score < 0.9
    retriever = store.as_retriever(search_type="similarity_score_threshold", search_kwargs={"k": 3, "score_threshold": 0.99})
    assert [d.id for d in retriever.invoke("blue paint")] == ["c"]
    assert len(store.add_texts(["green"])) == 1
    assert store.add_texts([]) == []
    store.delete(["c"])
    assert [d.id for d in store.similarity_search("blue paint", k=1)] == ["a"]
