// SPDX-License-Identifier: Apache-2.0

package langchainvecql_test

import (
	"context"
	"hash/fnv"
	"strings"
)

// words is an embedder that hashes the words of a text into 64 elements. Texts with common words are near.
type words struct{}

func (words) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 64)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%64]++
	}
	return v, nil
}

func (w words) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	for _, text := range texts {
		v, _ := w.EmbedQuery(ctx, text)
		vectors = append(vectors, v)
	}
	return vectors, nil
}
