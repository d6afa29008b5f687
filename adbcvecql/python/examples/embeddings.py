# SPDX-License-Identifier: Apache-2.0

"""A map of a table of embeddings: read into a Polars data frame, projected on two principal components, drawn as SVG.

    go run ./cmd/vecql fake &                           # or any cluster
    go run ./cmd/vecql demo --hosts 127.0.0.1 --keep    # creates the table vecql_demo.symbols
    python embeddings.py cassandra://127.0.0.1/vecql_demo embeddings.svg

The table has a row for each exported function and type of Go's standard library. The points of a package are near each
other because the meanings of their documentation are.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import polars as pl

from adbc_driver_vecql import dbapi

WIDTH, HEIGHT, MARGIN = 880, 560, 20
COLORS = ["#2a78d6", "#eb6834", "#1baa7a", "#eda100", "#c2559d", "#6a51c9"]
OTHER = "#c9c8c2"
Floats = npt.NDArray[np.floating]


def read(uri: str) -> pl.DataFrame:
    """Return the table. The column embedding is one block of floats."""
    with dbapi.connect(uri) as conn, conn.cursor() as cur:
        cur.execute("SELECT package, symbol, embedding FROM symbols")
        return pl.DataFrame(cur.fetch_arrow_table())


def project(vectors: Floats) -> Floats:
    """Return the first two principal components of vectors, one row for each. The largest loading of each is positive."""
    centered = vectors - vectors.mean(axis=0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    largest = axes[[0, 1], np.abs(axes).argmax(axis=1)]
    points: Floats = centered @ (axes * np.sign(largest)[:, None]).T
    return points


def groups(packages: pl.Series) -> pl.Series:
    """Return the first element of each package's path, "other" unless it is one of the most frequent."""
    first = packages.str.split("/").list.first()
    counts = first.value_counts().sort(["count", first.name], descending=[True, False])
    frequent = counts[first.name].head(len(COLORS)).to_list()
    return first.replace_strict({name: name for name in frequent}, default="other", return_dtype=pl.String)


def draw(points: Floats, labels: pl.Series) -> str:
    """Return a picture with a point for each row, in the color of its label."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN]) / (high - low)
    pixels = ((points - low) * scale + MARGIN).round().astype(int)
    names = [*labels.filter(labels != "other").value_counts(sort=True)[labels.name], "other"]
    colors = dict(zip(names, [*COLORS[:len(names) - 1], OTHER]))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 30}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT + 30}" fill="#fff"/>',
        '<g fill="none" stroke-width="5" stroke-linecap="round" stroke-opacity=".65">',
    ]
    for name in reversed(names):  # "other" below the rest
        path = "".join(f"M{x} {y}h0" for x, y in pixels[(labels == name).to_numpy()])
        parts.append(f'<path stroke="{colors[name]}" d="{path}"/>')
    parts.append("</g>")
    for i, name in enumerate(names):
        x = MARGIN + i * (WIDTH - MARGIN) // len(names)
        parts.append(f'<circle cx="{x + 5}" cy="{HEIGHT + 12}" r="5" fill="{colors[name]}"/>'
                     f'<text x="{x + 15}" y="{HEIGHT + 17}" fill="#444">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main(uri: str, path: str) -> None:
    frame = read(uri)
    vectors = frame["embedding"].to_numpy()
    with open(path, "w", encoding="utf-8") as file:
        file.write(draw(project(vectors), groups(frame["package"])))
    print(f"{frame.height} embeddings of {vectors.shape[1]} floats: {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
