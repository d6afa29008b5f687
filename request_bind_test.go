// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
	"github.com/vecql/vecql/internal/wire"
)

// The values of requests: by name, in partition keys, and bound again after a change of their statement.

// executesOf records the values of each EXECUTE. The function that it returns returns them since its last call.
func executesOf(c *fakecql.Cluster) (take func() [][][]byte) {
	var got [][][]byte
	c.On(func(r *fakecql.Request) bool {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		if r.Op == fakecql.OpExecute {
			got = append(got, r.Values)
		}
		return false
	})
	return func() [][][]byte {
		c.Mu.Lock()
		defer c.Mu.Unlock()
		taken := got
		got = nil
		return taken
	}
}

// TestNamedValues requires that named values are sent in the order of the bind markers, one to each marker of the name,
// and that a request whose names are not the names of the markers is not sent.
func TestNamedValues(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		const update = "UPDATE ks.t SET a = :a WHERE id = :id IF a = :a"
		c.Prepare(update, fakecql.Prepared{Bind: fakecql.Columns("a text", "id text", "a text"), PK: []int{1}})
		s := sessionOn(c)
		take := executesOf(c)
		a, id := cql.NamedValue("a", "new"), cql.NamedValue("id", "key")
		want := [][][]byte{{[]byte("new"), []byte("key"), []byte("new")}}
		require.NoError(t, s.Query(update, id, a).Exec(t.Context()))
		require.Equal(t, want, take())
		require.NoError(t, s.Query(update, a, id).Exec(t.Context()))
		require.Equal(t, want, take())
		require.NoError(t, s.Query(update, "x", "key", "y").Exec(t.Context()))
		require.Equal(t, [][][]byte{{[]byte("x"), []byte("key"), []byte("y")}}, take())
		for text, values := range map[string][]any{
			`no value for bind marker "id"`:           {a},
			`no value for bind marker "a"`:            {id},
			`no bind marker "b"`:                      {a, id, cql.NamedValue("b", 1)},
			"named and positional values are mixed":   {a, id, "third"},
			"2 values for 3 bind markers":             {"x", "key"},
			"0 values for 3 bind markers":             nil,
			"4 values for 3 bind markers of \"UPDATE": {"x", "key", "y", "z"},
		} {
			err := s.Query(update, values...).Exec(t.Context())
			require.ErrorIs(t, err, ErrValueCount, text)
			require.ErrorContains(t, err, text)
			require.Empty(t, take(), text)
			var count interface{ ValueCount() (values, markers int) }
			if errors.As(err, &count) {
				n, markers := count.ValueCount()
				require.Equal(t, []int{len(values), 3}, []int{n, markers})
			}
		}
	})
}

// TestPartitionKeyPartTooLong requires that a value of a partition key is at most as long as servers accept, 65,535
// bytes, and that a longer one fails before it is sent, with the name of its bind marker.
func TestPartitionKeyPartTooLong(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		c.Prepare("INSERT one", fakecql.Prepared{Bind: fakecql.Columns("v text", "a text"), PK: []int{1}})
		c.Prepare("INSERT two", fakecql.Prepared{Bind: fakecql.Columns("v text", "b text", "a text"), PK: []int{1, 2}})
		s := sessionOn(c)
		most := strings.Repeat("k", math.MaxUint16)
		long := most + "k"
		for name, m := range map[string]struct {
			stmt   string
			values []any
			marker string // of the value that is too long; empty means none
		}{
			"one column":               {"INSERT one", []any{"v", most}, ""},
			"one column, too long":     {"INSERT one", []any{"v", long}, "a"},
			"another column":           {"INSERT one", []any{long, "k"}, ""},
			"two columns":              {"INSERT two", []any{long, most, most}, ""},
			"the first one, too long":  {"INSERT two", []any{"v", long, "k"}, "b"},
			"the second one, too long": {"INSERT two", []any{"v", "k", long}, "a"},
		} {
			for verb, exec := range map[string]func(context.Context) error{
				"Query": s.Query(m.stmt, m.values...).Exec,
				"Batch": s.Batch(cql.LoggedBatch).Query(m.stmt, m.values...).Exec,
				"Route": func(ctx context.Context) error { _, err := s.Query(m.stmt, m.values...).Route(ctx); return err },
			} {
				before := s.Stats().Requests
				err := exec(t.Context())
				if m.marker == "" {
					require.NoError(t, err, "%s %s", verb, name)
					continue
				}
				require.ErrorIs(t, err, token.ErrPartTooLong, "%s %s", verb, name)
				require.ErrorContains(t, err, fmt.Sprintf("bind marker %q", m.marker), "%s %s", verb, name)
				require.Equal(t, before, s.Stats().Requests, "nothing is sent")
			}
		}
	})
}

// TestCustomPayloadTooLong requires that a request with a custom payload that the protocol cannot express is not sent.
func TestCustomPayloadTooLong(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		before := s.Stats().Requests
		payload := map[string][]byte{strings.Repeat("k", math.MaxUint16+1): nil}
		for verb, exec := range map[string]func(context.Context) error{
			"EXECUTE": s.Query(idempotentInsert).CustomPayload(payload).Exec,
			"QUERY":   s.Query("CREATE TABLE ks.t").CustomPayload(payload).Exec,
			"BATCH":   s.Batch(cql.LoggedBatch).Query(idempotentInsert).CustomPayload(payload).Exec,
		} {
			err := exec(t.Context())
			require.ErrorIs(t, err, wire.ErrTooLong, verb)
			require.ErrorContains(t, err, "custom payload key", verb)
		}
		require.Equal(t, before, s.Stats().Requests)
	})
}

// TestChangedStatementIsBoundAgain requires that a request whose statement has another type since it was prepared is
// encoded anew, with its options, and that it fails if the statement changes each time.
func TestChangedStatementIsBoundAgain(t *testing.T) {
	const insert = "INSERT INTO ks.t (id) VALUES (?)"
	types := []string{"int", "bigint", "smallint", "tinyint", "varint"}
	sizes := []int{4, 8, 2, 1, 1}
	for name, m := range map[string]struct {
		exec    func(s *Session) error
		changes int
		want    error
	}{
		"query": {func(s *Session) error { return s.Query(insert, 7).Timestamp(5).Exec(context.Background()) }, 1, nil},
		"iter":  {func(s *Session) error { return s.Query(insert, 7).Timestamp(5).Iter(context.Background()).Close() }, 1, nil},
		"batch": {func(s *Session) error {
			return s.Batch(cql.LoggedBatch).Query(insert, 7).Timestamp(5).Exec(context.Background())
		}, 1, nil},
		"query, changed twice": {func(s *Session) error { return s.Query(insert, 7).Timestamp(5).Exec(context.Background()) }, 2, ErrStatementChanged},
		"batch, changed twice": {func(s *Session) error {
			return s.Batch(cql.LoggedBatch).Query(insert, 7).Timestamp(5).Exec(context.Background())
		}, 2, ErrStatementChanged},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
				version, changes, asked := 0, 0, 0
				prepare := func() {
					c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id " + types[version]), PK: []int{0}, ID: fmt.Sprint("id ", version)})
				}
				prepare()
				s := sessionOn(c)
				require.NoError(t, m.exec(s))
				changes = m.changes
				c.On(func(r *fakecql.Request) bool {
					if r.Op != fakecql.OpExecute && r.Op != fakecql.OpBatch {
						return false
					}
					asked++
					if changes--; changes < 0 {
						if r.Op == fakecql.OpExecute {
							require.Len(t, r.Values[0], sizes[version])
							require.EqualValues(t, 5, r.Timestamp)
						}
						return false
					}
					old := fmt.Sprint("id ", version)
					version++
					prepare()
					r.Unprepared(old)
					return true
				})
				err := m.exec(s)
				require.ErrorIs(t, err, m.want)
				require.False(t, err != nil && MayHaveApplied(err))
				require.Equal(t, 2, asked)
			})
		})
	}
}

// TestCallIsMadeAgain requires which failed calls are encoded and made again.
func TestCallIsMadeAgain(t *testing.T) {
	changed := &RequestFailure{Err: ErrStatementChanged}
	applied := &RequestFailure{Err: ErrStatementChanged, applied: true}
	for name, m := range map[string]struct {
		call callState
		err  error
		want bool
	}{
		"a changed statement":                    {callState{}, changed, true},
		"success":                                {callState{}, nil, false},
		"another error":                          {callState{}, &RequestFailure{Err: frame.ErrTooBig}, false},
		"made again before":                      {callState{rebound: true}, changed, false},
		"may have been executed":                 {callState{}, applied, false},
		"may have been executed, but idempotent": {callState{idempotent: true}, applied, true},
	} {
		c := call{callState: m.call}
		require.Equal(t, m.want, c.mustRebind(m.err), name)
	}
}

// TestTimestampOfRequests requires which write timestamp a request has: the program's, one of the session, or none.
func TestTimestampOfRequests(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		var got int64
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				got = r.Timestamp
			}
			return false
		})
		now := time.Now().UnixMicro()
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		require.GreaterOrEqual(t, got, now)
		require.NoError(t, s.Query(idempotentInsert).Timestamp(5).Exec(t.Context()))
		require.EqualValues(t, 5, got)
		require.NoError(t, s.Query(idempotentInsert).ServerTimestamps(true).Timestamp(6).Exec(t.Context()))
		require.EqualValues(t, 6, got)
		require.NoError(t, s.Query(idempotentInsert).ServerTimestamps(true).Exec(t.Context()))
		require.Zero(t, got)
	})
}
