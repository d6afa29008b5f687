// SPDX-License-Identifier: Apache-2.0

package semcache

import (
	"context"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/tablescan"
)

// Invalidate removes the entry with a key, of the model of the cache. It is no error if there is none.
func (c *Cache[V]) Invalidate(ctx context.Context, key string) error {
	return c.config.failed("invalidate", c.query(c.deletion(), c.config.Model, key).Exec(ctx))
}

// InvalidateModel removes all entries of a model, which need not be the one of the cache. It reads the keys of the
// whole table. Entries that are stored meanwhile may remain.
func (c *Cache[V]) InvalidateModel(ctx context.Context, model string) error {
	return c.config.failed("invalidate", c.removeWhere(ctx, func(k entryKey) bool { return k.Model == model }))
}

// InvalidateAll removes all entries of all models. Entries that are stored meanwhile may remain.
func (c *Cache[V]) InvalidateAll(ctx context.Context) error {
	return c.config.failed("invalidate", c.removeWhere(ctx, func(entryKey) bool { return true }))
}

func (c *Cache[V]) deletion() string {
	return "DELETE FROM " + c.config.Table + " WHERE model = ? AND key = ?"
}

// entryKey is the primary key of an entry.
type entryKey struct{ Model, Key string }

// removeWhere removes entries row by row: the index of ScyllaDB follows the removals of rows, and TRUNCATE has none.
func (c *Cache[V]) removeWhere(ctx context.Context, match func(entryKey) bool) (err error) {
	set := func(q *vecql.Query) {
		if c.config.Consistency != nil {
			q.Consistency(*c.config.Consistency)
		}
	}
	scan, err := tablescan.New(ctx, c.session, "SELECT model, key FROM "+c.config.Table, tablescan.Config{Query: set})
	if err != nil {
		return err
	}
	w, err := bulk.New(ctx, c.session, c.deletion(), bulk.Options{Query: set})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := w.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	for key, err := range tablescan.Rows[entryKey](ctx, scan) {
		if err != nil {
			return err
		}
		if match(key) {
			if err := bulk.Rows(ctx, w, []entryKey{key}); err != nil {
				return err
			}
		}
	}
	return nil
}
