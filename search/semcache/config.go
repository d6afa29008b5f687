// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"fmt"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/vectorcheck"
	"github.com/vecql/vecql/vector"
)

// DefaultThreshold is a cosine distance within which prompts of most models of text have the same meaning. Calibrate
// computes the threshold of a model.
const DefaultThreshold = 0.1

// A Config describes a cache. Caches of several models may share a table if their embeddings have one dimension.
type Config struct {
	Table     string // in CQL: "shop.answers", or "answers" with the keyspace of the session
	Model     string // the name of the model and its version; entries of another model do not match
	Dimension int    // of embeddings
	// Threshold is the greatest cosine distance of a hit, up to 2. Default DefaultThreshold.
	Threshold float32
	// TTL is the time to live of new entries, in whole seconds. Default 0, which means no end.
	TTL time.Duration
	// Timeout bounds each lookup and each store. Default 0, which means the timeouts of the session.
	Timeout time.Duration
	// Consistency is the level of writes and of reads by key. Default nil, which means the level of the session. Searches
	// have the level that package search chooses.
	Consistency *cql.Consistency
	// OnError receives the errors of the cache that Do hides, on the goroutines of Do. Default nil: Do returns them.
	OnError func(error)
}

// maxTTL is the greatest time to live of Cassandra: 20 years.
const maxTTL = 20 * 365 * 24 * time.Hour

// withDefaults checks a Config.
func (c Config) withDefaults() (Config, error) {
	refuse := func(format string, args ...any) (Config, error) {
		return c, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	switch {
	case !cqltext.IsTable(c.Table):
		return refuse(`Table is %.100q: want "keyspace.table" or "table"`, c.Table)
	case c.Model == "":
		return refuse("Model is empty: name the model of the embeddings")
	case c.Dimension < 1:
		return refuse("Dimension is %d: want at least 1", c.Dimension)
	case !(c.Threshold > 0 && c.Threshold <= 2):
		return refuse("Threshold is %v: want a cosine distance up to 2", c.Threshold)
	case c.TTL < 0 || c.TTL > maxTTL || c.TTL%time.Second != 0:
		return refuse("TTL is %v: want whole seconds, up to 20 years", c.TTL)
	case c.Timeout < 0:
		return refuse("Timeout is %v: want at least 0", c.Timeout)
	}
	return c, nil
}

// check returns the error of an embedding that has no cosine distance, or another dimension.
func (c *Config) check(embedding []float32) error {
	return vectorcheck.Check("embedding", embedding, c.Dimension, vector.Cosine)
}
