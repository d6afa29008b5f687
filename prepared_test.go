// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests the cache of prepared statements.

func TestStatementsForgetsFailures(t *testing.T) {
	c := newStatements(10)
	key := statementKey{text: "SELECT 1"}
	boom := errors.New("boom")
	_, err := c.get(context.Background(), key, func() (*statement, error) { return nil, boom })
	require.ErrorIs(t, err, boom)
	want := &statement{}
	got, err := c.get(context.Background(), key, func() (*statement, error) { return want, nil })
	require.NoError(t, err)
	require.Same(t, want, got)
	c.drop(key, &statement{}) // another one: stays
	require.Equal(t, 1, c.cache.Len())
	c.drop(key, want)
	require.Equal(t, 0, c.cache.Len())
}
