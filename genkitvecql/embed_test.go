// SPDX-License-Identifier: Apache-2.0

package genkitvecql_test

import (
	"context"
	"hash/fnv"
	"strings"

	"github.com/firebase/genkit/go/ai"
)

// embed hashes the words of texts into 64 elements. Texts with common words are near.
func embed(_ context.Context, request *ai.EmbedRequest) (*ai.EmbedResponse, error) {
	response := &ai.EmbedResponse{}
	for _, doc := range request.Input {
		v := make([]float32, 64)
		for _, part := range doc.Content {
			for _, word := range strings.Fields(strings.ToLower(part.Text)) {
				h := fnv.New32a()
				h.Write([]byte(word))
				v[h.Sum32()%64]++
			}
		}
		response.Embeddings = append(response.Embeddings, &ai.Embedding{Embedding: v})
	}
	return response, nil
}
