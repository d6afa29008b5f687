# SPDX-License-Identifier: Apache-2.0

"""A vector store of LangChain on the ADBC driver.

    store = VecqlStore(dbapi.connect("cassandra://127.0.0.1/shop"), "docs", embedding)
    store.add_texts(["blue paint", "red shoes"], [{"lang": "en"}, {"lang": "en"}])
    store.similarity_search("paint", k=4, filter="lang = 'en'")

The table and its index:

    CREATE TABLE docs (id text PRIMARY KEY, content text, metadata text, embedding vector<float, 384>, lang text);
    CREATE CUSTOM INDEX ON docs (embedding) USING 'StorageAttachedIndex' WITH OPTIONS = {'similarity_function': 'cosine'};
    CREATE INDEX ON docs (lang) USING 'sai';

metadata is JSON. A further column, here lang, has the value of the metadata of its name, for filters.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, Iterable, Optional

import adbc_driver_manager.dbapi
import pyarrow as pa
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from adbc_driver_vecql.search import search


class VecqlStore(VectorStore):
    """A table of documents."""

    def __init__(self, conn: adbc_driver_manager.dbapi.Connection, table: str, embedding: Embeddings) -> None:
        self.conn, self.table, self.embedding = conn, table, embedding
        with conn.cursor() as cur:
            cur.execute(f"SELECT * FROM {table} LIMIT 1")
            self.filters = set(cur.fetch_arrow_table().column_names) - {"id", "content", "metadata", "embedding"}

    @property
    def embeddings(self) -> Embeddings:
        return self.embedding

    def add_texts(self, texts: Iterable[str], metadatas: Optional[list[dict]] = None, *, ids: Optional[list[str]] = None,
                  **kwargs: Any) -> list[str]:
        texts = list(texts)
        metadatas = metadatas or [{} for _ in texts]
        ids = [i or str(uuid.uuid4()) for i in (ids or [None] * len(texts))]
        vectors = self.embedding.embed_documents(texts)
        if not texts:
            return ids
        rows = {
            "id": ids, "content": texts, "metadata": [json.dumps(m) for m in metadatas],
            "embedding": pa.array(vectors, pa.list_(pa.float32(), len(vectors[0]))),
        }
        for name in self.filters & set().union(*metadatas):
            rows[name] = [m.get(name) for m in metadatas]
        with self.conn.cursor() as cur:
            cur.adbc_ingest(self.table, pa.table(rows), mode="append")
        return ids

    def delete(self, ids: Optional[list[str]] = None, **kwargs: Any) -> bool:
        with self.conn.cursor() as cur:
            cur.executemany(f"DELETE FROM {self.table} WHERE id = ?", [(i,) for i in ids or []])
        return True

    def similarity_search_with_score(self, query: str, k: int = 4, filter: Optional[str] = None,
                                     **kwargs: Any) -> list[tuple[Document, float]]:
        """Return documents with their scores: of an index of cosine, (1 + cosine) / 2."""
        found = search(self.conn, self.table, self.embedding.embed_query(query), k, column="embedding",
                       columns=["id", "content", "metadata"], filter=filter, **kwargs)
        return [(Document(id=row["id"], page_content=row["content"], metadata=json.loads(row["metadata"] or "{}")), row["score"])
                for row in found.to_pylist()]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def _select_relevance_score_fn(self):
        return float  # a score is from 0 to 1 already

    @classmethod
    def from_texts(cls, texts: list[str], embedding: Embeddings, metadatas: Optional[list[dict]] = None, *,
                   ids: Optional[list[str]] = None, conn: adbc_driver_manager.dbapi.Connection, table: str,
                   **kwargs: Any) -> VecqlStore:
        store = cls(conn, table, embedding)
        store.add_texts(texts, metadatas, ids=ids)
        return store
