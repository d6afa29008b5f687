// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/product"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// A Value is what a cache stores: a text or bytes.
type Value interface{ ~string | ~[]byte }

// A Cache stores values by the embeddings of prompts. Its methods may be called by any number of goroutines.
type Cache[V Value] struct {
	config  Config
	session *vecql.Session
	near    *search.Query[row]
	scylla  bool
	flights flights[V]

	hits, misses, shared, failures atomic.Int64
}

// row is a row of the table, without its embedding.
type row struct {
	Key     string
	Value   []byte
	Created time.Time
	Expires *time.Time // nil means never
}

// An Entry is a stored value. It is the caller's.
type Entry[V Value] struct {
	Key      string // of the embedding that it was stored with
	Value    V
	Distance float32   // the cosine distance of the embedding that it was stored with; 0 if both are equal
	Created  time.Time // by the clock of the writer
	Expires  time.Time // the zero time means never
}

// Stats are the counts of a Cache since Open.
type Stats struct {
	Hits, Misses int64 // of lookups
	Shared       int64 // calls of Do that received the value of a concurrent call with an equal embedding
	Failures     int64 // lookups and stores that returned an error
}

// Open opens the cache that Create has created. The error is *Error, and wraps ErrSchema for another table.
func Open[V Value](ctx context.Context, session *vecql.Session, config Config) (*Cache[V], error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, config.failed("open", err)
	}
	c := &Cache[V]{config: config, session: session}
	server, err := product.Of(ctx, session)
	if err == nil {
		c.scylla = server.Scylla
		_, err = ttlOf(&config, server)
	}
	if err == nil {
		err = checkTable(ctx, session, &config, server)
	}
	if err == nil {
		c.near, err = search.Open[row](ctx, session, config.target())
	}
	if err != nil {
		return nil, config.failed("open", err)
	}
	c.near = c.near.Metric(vector.Cosine).Where("model = ?", config.Model).MaxDistance(config.Threshold)
	return c, nil
}

// Key returns the key of an embedding, a hash of its elements. Equal embeddings have one entry for each model.
func Key(embedding []float32) string {
	var b []byte
	for _, x := range embedding {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// Stats returns the counts.
func (c *Cache[V]) Stats() Stats {
	return Stats{Hits: c.hits.Load(), Misses: c.misses.Load(), Shared: c.shared.Load(), Failures: c.failures.Load()}
}

// Get returns the entry whose embedding is nearest, and false if none is within the threshold. The error is *Error.
func (c *Cache[V]) Get(ctx context.Context, embedding []float32) (entry Entry[V], ok bool, err error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	if err = c.config.check(embedding); err == nil {
		entry, ok, err = c.byKey(ctx, Key(embedding))
	}
	if err == nil && !ok {
		entry, ok, err = c.byIndex(ctx, embedding)
	}
	switch {
	case err != nil:
		c.failures.Add(1)
	case ok:
		c.hits.Add(1)
	default:
		c.misses.Add(1)
	}
	return entry, ok, c.config.failed("get", err)
}

// byKey reads the entry of an equal embedding.
func (c *Cache[V]) byKey(ctx context.Context, key string) (Entry[V], bool, error) {
	q := c.query("SELECT key, value, created, expires FROM "+c.config.Table+" WHERE model = ? AND key = ?", c.config.Model, key)
	r, err := vecql.OneRow[row](ctx, q)
	if errors.Is(err, vecql.ErrNotFound) || err == nil && r.isExpired() {
		return Entry[V]{}, false, nil
	}
	return entryOf[V](r, 0), err == nil, err
}

// candidates is the number of entries that a search asks for. Cassandra searches wider for more rows, and the nearest
// rows may have expired. Rows have values, so that more would cost bandwidth.
const candidates = 8

// byIndex searches for the nearest entry.
func (c *Cache[V]) byIndex(ctx context.Context, embedding []float32) (Entry[V], bool, error) {
	for hit, err := range c.near.Nearest(ctx, embedding, candidates) {
		if err != nil {
			return Entry[V]{}, false, err
		}
		if !hit.Row.isExpired() {
			return entryOf[V](hit.Row, hit.Distance), true, nil
		}
	}
	return Entry[V]{}, false, nil
}

func (r *row) isExpired() bool { return r.Expires != nil && !time.Now().Before(*r.Expires) }

func entryOf[V Value](r row, distance float32) Entry[V] {
	e := Entry[V]{Key: r.Key, Value: V(r.Value), Distance: distance, Created: r.Created}
	if r.Expires != nil {
		e.Expires = *r.Expires
	}
	return e
}

// Put stores a value for an embedding, in place of the one of an equal embedding. The error is *Error.
func (c *Cache[V]) Put(ctx context.Context, embedding []float32, value V) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	err := c.config.check(embedding)
	if err == nil {
		err = c.insert(ctx, embedding, append([]byte{}, value...))
	}
	if err != nil {
		c.failures.Add(1)
	}
	return c.config.failed("put", err)
}

func (c *Cache[V]) insert(ctx context.Context, embedding []float32, value []byte) error {
	now := time.Now()
	var expires *time.Time
	ttl := ""
	if c.config.TTL > 0 {
		end := now.Add(c.config.TTL)
		expires = &end
		if !c.scylla {
			ttl = fmt.Sprintf(" USING TTL %d", c.config.TTL/time.Second)
		}
	}
	return c.query("INSERT INTO "+c.config.Table+" (model, key, embedding, value, created, expires) VALUES (?, ?, ?, ?, ?, ?)"+ttl,
		c.config.Model, Key(embedding), embedding, value, now, expires).Exec(ctx)
}

// query returns a request with the consistency level of the configuration.
func (c *Cache[V]) query(text string, values ...any) *vecql.Query {
	q := c.session.Query(text, values...).Idempotent(true)
	if c.config.Consistency != nil {
		q.Consistency(*c.config.Consistency)
	}
	return q
}

// bounded returns a context that ends after Config.Timeout.
func (c *Cache[V]) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.config.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.config.Timeout)
}
