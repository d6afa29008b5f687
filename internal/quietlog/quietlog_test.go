// SPDX-License-Identifier: Apache-2.0

package quietlog

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// recorder keeps records. It panics if its fields request it.
type recorder struct {
	records           *[]slog.Record
	panics, onEnabled bool
}

func (r recorder) Enabled(context.Context, slog.Level) bool {
	if r.onEnabled {
		panic("enabled")
	}
	return true
}

func (r recorder) Handle(_ context.Context, record slog.Record) error {
	if r.panics {
		panic("handle")
	}
	*r.records = append(*r.records, record)
	return nil
}

func (r recorder) WithAttrs([]slog.Attr) slog.Handler { panic("quietlog binds the attributes") }
func (r recorder) WithGroup(string) slog.Handler      { return r }

func TestRepeatsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var list []slog.Record
		log := New(slog.New(recorder{records: &list}), "node")
		a, b := log.With("node", "a"), log.With("node", "b")
		for i := range 100 {
			a.Info("lost", "err", fmt.Sprint("port ", i))
			b.Info("lost")
			log.Info("lost", "node", "c")
			a.Warn("lost")
			a.Info("found")
		}
		require.Len(t, list, 5, "equal level, message and node; the errors may differ")
		time.Sleep(Interval)
		list = nil
		a.Info("lost")
		a.Info("lost")
		require.Len(t, list, 1)
		attrs := ""
		list[0].Attrs(func(a slog.Attr) bool {
			attrs += a.String() + " "
			return true
		})
		require.Equal(t, "node=a repeated=99 ", attrs)
		time.Sleep(Interval)
		list = nil
		a.WithGroup("g").Info("lost")
		require.Len(t, list, 1)
		for i := range 3 * maxKinds {
			log.Info("state", "node", i)
		}
		h := log.Handler().(*handler)
		require.LessOrEqual(t, len(h.seen.last), maxKinds, "the number of remembered records is limited")
		require.Len(t, list, 1+3*maxKinds)
	})
}

func TestPanicsOfTheHandler(t *testing.T) {
	log := New(slog.New(recorder{panics: true}), "node")
	err := log.Handler().Handle(t.Context(), slog.NewRecord(time.Now(), slog.LevelInfo, "lost", 0))
	require.EqualError(t, err, "panic: handle")
	log = New(slog.New(recorder{onEnabled: true}), "node")
	require.False(t, log.Enabled(t.Context(), slog.LevelInfo))
}
