// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file counts allocations of requests.

// voidForever answers this frame and all that follow with RESULT void, without an allocation: what is counted is the client's.
func voidForever(r *fakeRequest) {
	p, h := r.peer, wire.Header{Version: r.peer.s.version, Response: true, Stream: r.stream, Opcode: byte(opResult), Length: 4}
	head, body := make([]byte, wire.HeaderSize), make([]byte, 4096)
	var frame, out []byte
	for {
		frame = append(frame[:0], make([]byte, wire.HeaderSize)...)
		wire.PutHeader(frame, h)
		frame = append(frame, 0, 0, 0, byte(resultVoid))
		if out = append(out[:0], frame...); p.seg {
			out, _ = wire.AppendSegments(out[:0], frame, nil)
		}
		if _, err := p.conn.Write(out); err != nil {
			return
		}
		if _, err := io.ReadFull(p.in, head); err != nil {
			return
		}
		next, err := wire.ParseHeader(head)
		if err != nil || next.Length > len(body) {
			return
		}
		if _, err := io.ReadFull(p.in, body[:next.Length]); err != nil {
			return
		}
		h.Stream = next.Stream
	}
}

func TestExecAllocates(t *testing.T) {
	const stmt = "INSERT INTO ks.t (id, v) VALUES (?, ?)"
	type record struct {
		ID int64
		V  []float32
	}
	for name, change := range map[string]func(*ClusterConfig){
		"as it comes": func(*ClusterConfig) {},
		"with policies, a throttle and limits": func(cfg *ClusterConfig) {
			cfg.RetryPolicy = ExponentialBackoffRetryPolicy{NumRetries: 3}
			cfg.Throttle = Throttle{MaxRequests: 10, MaxBytes: 1 << 20}
			cfg.MaxRequestsPerConn = 64
			cfg.SpeculativeExecutionPolicy = NonSpeculativeExecution{}
		},
		"with speculation, but not idempotent": func(cfg *ClusterConfig) {
			cfg.SpeculativeExecutionPolicy = &SimpleSpeculativeExecution{NumAttempts: 2}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSocketCluster(t, protoV5, 1)
			c.prepare(stmt, preparedSpec{bind: []ColumnInfo{col("id", tBigint), col("v", tVector)}, pk: []int{0}})
			c.on(func(r *fakeRequest) bool {
				if r.op == opExecute {
					voidForever(r)
				}
				return r.op == opExecute
			})
			s := c.session(change)
			ctx := context.Background()
			insert, err := Prepare[record](ctx, s.Query(stmt))
			require.NoError(t, err)
			r := record{7, []float32{1, 2, 3}}
			once := func() {
				if err := insert.Exec(ctx, &r); err != nil {
					t.Fatal(err)
				}
			}
			for range 1000 {
				once()
			}
			if poison {
				return // the race detector's pools drop what is put into them now and then
			}
			require.Zero(t, testing.AllocsPerRun(500, once))
		})
	}
}
