// SPDX-License-Identifier: Apache-2.0

//go:build !v2

package gocql_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// The compressor and the logger of v1.7 and the fork.

// TestCompression with Snappy.
func TestCompression(t *testing.T) {
	s := newSession(t, newCluster(t, cqltest.Config{}), func(cfg *gocql.ClusterConfig) { cfg.Compressor = &gocql.SnappyCompressor{} })
	name := strings.Repeat("lamp", 1000)
	run(t, s, "INSERT INTO items (id, name) VALUES (?, ?)", 1, name)
	if m := mapRow(t, s, map[string]any{}, 1); m["name"] != name {
		t.Error("the row differs")
	}
	packed, err := gocql.SnappyCompressor{}.Encode([]byte(name))
	if err != nil || len(packed) >= len(name) {
		t.Fatal(len(packed), err)
	}
	if back, err := (gocql.SnappyCompressor{}).Decode(packed); err != nil || string(back) != name {
		t.Error(err)
	}
}

// lines is a StdLogger.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Print(v ...any)                 { l.write(v...) }
func (l *lines) Printf(format string, v ...any) { l.write(v...) }
func (l *lines) Println(v ...any)               { l.write(v...) }

func (l *lines) write(v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range v {
		l.text.WriteString(s.(string) + "\n")
	}
}

// TestLogger receives the log of the session.
func TestLogger(t *testing.T) {
	c := newCluster(t, cqltest.Config{})
	l := &lines{}
	s := newSession(t, c, func(cfg *gocql.ClusterConfig) { cfg.Logger = l })
	c.Node(0).Kill()
	c.Node(1).Kill()
	c.Node(2).Kill()
	if err := s.Query("SELECT id FROM items").Exec(); err == nil {
		t.Error("no error")
	}
	logged := func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.text.String()
	}
	for start := time.Now(); !strings.Contains(logged(), "node=127.0.0.1:"); time.Sleep(time.Millisecond) {
		if time.Since(start) > 10*time.Second { // the ends of connections are logged by their readers
			t.Fatal(logged())
		}
	}
	if text := logged(); !strings.HasPrefix(text, "gocql: ") {
		t.Error(text)
	}
}
