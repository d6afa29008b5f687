// SPDX-License-Identifier: Apache-2.0

package einovecql_test

import (
	"context"
	"hash/fnv"
	"strings"

	"github.com/cloudwego/eino/components/embedding"
)

// words is an embedder that hashes the words of a text into 64 elements. Texts with common words are near.
type words struct{}

func (words) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) (vectors [][]float64, err error) {
	for _, text := range texts {
		v := make([]float64, 64)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			h := fnv.New32a()
			h.Write([]byte(word))
			v[h.Sum32()%64]++
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}
