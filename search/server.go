// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/product"
)

// A server is what the nodes of a session are, as far as searches differ.
type server struct{ product.Server }

// serverOf finds what the nodes are.
func serverOf(ctx context.Context, session *vecql.Session) (server, error) {
	s, err := product.Of(ctx, session)
	if err != nil {
		err = errorf("%w", err)
	}
	return server{s}, err
}
