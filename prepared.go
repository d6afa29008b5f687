// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"hash/maphash"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/vecql/vecql/internal/lru"
	"github.com/vecql/vecql/internal/token"
)

// This file holds prepared statements: the plan that a PREPARE yields, and the cache of them. A plan is prepared once per session, on
// one node; a node that does not know it says so when it is executed (native_protocol_v5.spec, section 8, 0x2500) and gets it then.

// statement is a prepared statement: everything that does not change from one execution to the next.
type statement struct {
	text      string
	keyspace  string // of the request (v5), not of the table
	id        []byte
	bind      []ColumnInfo
	pkIndexes []int // bind markers that make up the partition key, in its order
	lwt       bool  // known to be conditional
	cdc       bool  // its table is a CDC log of ScyllaDB's, which has a partitioner of its own
	encoders  []atomic.Pointer[encodePlan]
	result    atomic.Pointer[resultPlan] // of rows that come without metadata
	seen      atomic.Pointer[resultPlan] // of the last rows that came with it
	bodySize  atomic.Int64               // of the last EXECUTE: the next one's body is made with that much room
}

// encodePlan is the encoder of one bind marker for the Go type it was last given.
type encodePlan struct {
	goType reflect.Type
	encode encodeFunc
}

// resultPlan is the result metadata of a statement. It is replaced when the server says that it changed; rows are decoded with the
// one that was current when the request was sent.
type resultPlan struct {
	metadataID []byte // nil where the connection has no metadata ids
	knownColumns
	decoders []atomic.Pointer[decodePlan] // by column, a list for the destination types that came
}

// decodePlan is the decoder of one column for one type of destination, a pointer.
type decodePlan struct {
	typ    unsafe.Pointer // its typeWord
	elem   reflect.Type   // what it points to
	value  decodeAt       // for a cell that is not NULL; nil: decode does everything
	decode decodeFunc
	next   *decodePlan
}

// maxDecoders bounds the destination types of a column that are remembered with a statement.
const maxDecoders = 4

func newDecodePlan(info TypeInfo, dest any) *decodePlan {
	p := &decodePlan{typ: typeWord(dest), decode: reflectDecode}
	t := reflect.TypeOf(dest)
	if t.Kind() != reflect.Pointer {
		return p
	}
	p.elem = t.Elem()
	p.value = planValueDecode(info, p.elem)
	p.decode = decoderOf(info, t)
	return p
}

func newResultPlan(metadataID []byte, known knownColumns) *resultPlan {
	return &resultPlan{metadataID: metadataID, knownColumns: known, decoders: make([]atomic.Pointer[decodePlan], len(known.columns))}
}

func newStatement(text, keyspace string, p *preparedResult) *statement {
	s := &statement{
		text: text, keyspace: keyspace, id: p.id, bind: p.bind.columns, pkIndexes: p.pkIndexes, lwt: p.lwt || isConditional(text),
		encoders: make([]atomic.Pointer[encodePlan], len(p.bind.columns)),
	}
	if len(s.pkIndexes) == 1 {
		pk := &s.bind[s.pkIndexes[0]]
		s.cdc = pk.Name == "cdc$stream_id" && strings.HasSuffix(pk.Table, "_scylla_cdc_log")
	}
	plan := newResultPlan(p.resultMetadataID, p.result.known())
	s.result.Store(plan)
	s.seen.Store(plan)
	return s
}

// encoder returns the encoder of bind marker i for values of type t, and remembers it.
func (s *statement) encoder(i int, t reflect.Type) encodeFunc {
	if p := s.encoders[i].Load(); p != nil && p.goType == t {
		return p.encode
	}
	p := &encodePlan{goType: t, encode: encoderOf(s.bind[i].TypeInfo, t)}
	s.encoders[i].Store(p)
	return p.encode
}

// tokenOf returns the token of a partition key of one column.
func (s *statement) tokenOf(key []byte) int64 {
	if s.cdc {
		return token.CDC(key)
	}
	return token.Murmur3(key)
}

// routing returns keyspace and table of the statement, empty when it has no bind marker that tells.
func (s *statement) routing() (keyspace, table string) {
	if len(s.bind) == 0 {
		return "", ""
	}
	return s.bind[0].Keyspace, s.bind[0].Table
}

type statementKey struct{ keyspace, text string }

// statements is the cache of prepared statements. Callers of the same text share one PREPARE.
type statements struct {
	recent [recentStatements]atomic.Pointer[preparing] // by hash: a part of cache that is read without mu
	seed   maphash.Seed

	mu    sync.Mutex
	cache *lru.Cache[statementKey, *preparing]
}

// recentStatements is a power of 2. Those that meet in one place take turns, by way of the lock.
const recentStatements = 256

// preparing is a PREPARE under way, or its outcome once done is closed.
type preparing struct {
	key  statementKey
	done chan struct{}
	stmt *statement
	err  error
}

func newStatements(max int) *statements {
	return &statements{cache: lru.New[statementKey, *preparing](max), seed: maphash.MakeSeed()}
}

// place returns where in recent the key may be.
func (c *statements) place(key statementKey) *atomic.Pointer[preparing] {
	return &c.recent[maphash.String(c.seed, key.text)%recentStatements]
}

// known returns the statement for key when it is at hand. What it finds without the lock is not marked as used: the cache may forget it too
// early, which costs one PREPARE more in as many as the cache holds.
func (c *statements) known(key statementKey) *statement {
	place := c.place(key)
	if p := place.Load(); p != nil && p.key == key {
		return p.stmt
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.cache.Get(key)
	if !ok {
		return nil
	}
	select {
	case <-p.done:
		if p.stmt != nil { // nil when preparing failed
			place.Store(p)
		}
		return p.stmt
	default:
		return nil
	}
}

// leave takes a statement that is no longer in the cache out of recent. c.mu is held.
func (c *statements) leave(p *preparing) {
	c.place(p.key).CompareAndSwap(p, nil)
}

// get returns the statement for key, calling prepare at most once at a time. prepare runs on a goroutine of its own and under no
// caller's context, so that one caller's cancellation does not fail the others; each caller waits under its own.
func (c *statements) get(ctx context.Context, key statementKey, prepare func() (*statement, error)) (*statement, error) {
	c.mu.Lock()
	p, ok := c.cache.Get(key)
	if !ok {
		p = &preparing{key: key, done: make(chan struct{})}
		if old, evicted := c.cache.Add(key, p); evicted {
			c.leave(old)
		}
		go func() {
			p.stmt, p.err = prepare()
			if p.err != nil {
				c.forget(key, p)
			}
			close(p.done)
		}()
	}
	c.mu.Unlock()
	select {
	case <-p.done:
		return p.stmt, p.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// forget removes p, unless another one has taken its place.
func (c *statements) forget(key statementKey, p *preparing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cur, ok := c.cache.Get(key); ok && cur == p {
		c.cache.Remove(key)
	}
}

// drop removes a statement that turned out not to be valid any more.
func (c *statements) drop(key statementKey, stmt *statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cur, ok := c.cache.Get(key)
	if !ok {
		return
	}
	select {
	case <-cur.done:
		if cur.stmt == stmt {
			c.cache.Remove(key)
			c.leave(cur)
		}
	default: // another one is being prepared already
	}
}
