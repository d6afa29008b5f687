// SPDX-License-Identifier: Apache-2.0

// Package hooks has what packages of this repository set for a session and the public API lacks: gocql's observers of
// streams and of frame headers.
package hooks

import (
	"context"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// An Exchange is called before an attempt is passed to a connection, on the goroutine of the request. It returns the
// function that receives the end of the attempt; nil means none. A node removed since has its address only.
type Exchange func(ctx context.Context, host *cql.Host) (ended func(Answer))

// An Answer is the end of an attempt.
type Answer struct {
	Header *wire.Header // nil means that the attempt was canceled or timed out, or that the connection broke
	Start  time.Time    // of the request
}

type key struct{}

// With returns a context for vecql.NewSession, whose session calls f.
func With(ctx context.Context, f Exchange) context.Context { return context.WithValue(ctx, key{}, f) }

// Of returns the function of With, nil if there is none.
func Of(ctx context.Context) Exchange {
	f, _ := ctx.Value(key{}).(Exchange)
	return f
}
