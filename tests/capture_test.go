// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"bytes"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

var capture = flag.String("capture", "", "`folder` to write the traffic of driver and server to, for the tests without a server")

// recorder records the bytes of all connections of a session.
type recorder struct {
	mu    sync.Mutex
	conns []*bytes.Buffer
}

// DialContext implements vecql.Dialer.
func (r *recorder) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	buf := new(bytes.Buffer)
	r.conns = append(r.conns, buf)
	return &recordedConn{Conn: c, r: r, buf: buf}, nil
}

type recordedConn struct {
	net.Conn
	r   *recorder
	buf *bytes.Buffer
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.note("<", p[:n])
	return n, err
}

func (c *recordedConn) Write(p []byte) (int, error) {
	c.note(">", p) // recorded before the response can arrive
	return c.Conn.Write(p)
}

func (c *recordedConn) note(direction string, p []byte) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	for len(p) > 0 {
		n := min(len(p), 64)
		fmt.Fprintln(c.buf, direction, hex.EncodeToString(p[:n]))
		p = p[n:]
	}
}

// captured lists the statements of a capture, in order. Values are literals, so that the server encodes them.
var captured = []struct {
	cql  string
	with func(q *vecql.Query) *vecql.Query // nil means no change
}{
	{`CREATE KEYSPACE capture WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`, nil},
	{`CREATE TYPE capture.point (x int, y text)`, nil},
	{`CREATE TABLE capture.everything (id int PRIMARY KEY, a ascii, t text, b blob, bo boolean, ti tinyint, si smallint, i int, bi bigint,
		f float, d double, de decimal, vi varint, u uuid, tu timeuuid, ip inet, ip6 inet, da date, tm time, ts timestamp, du duration,
		l list<text>, s set<int>, m map<text, bigint>, tp tuple<int, text>, ud frozen<point>, v vector<float, 3>, vd vector<double, 2>,
		vi2 vector<int, 2>, vb vector<bigint, 2>, vu vector<uuid, 1>, vt vector<text, 2>, lv list<frozen<vector<float, 2>>>)`, nil},
	{`INSERT INTO capture.everything (id, a, t, b, bo, ti, si, i, bi, f, d, de, vi, u, tu, ip, ip6, da, tm, ts, du, l, s, m, tp, ud, v, vd, vi2,
		vb, vu, vt, lv) VALUES (1, 'ascii', 'naïve ☃', 0x00ff, true, -128, -32768, -2147483648, -9223372036854775808, 1.5, -2.25, -12.345,
		-123456789012345678901234567890, 01020304-0506-0708-090a-0b0c0d0e0f10, 5f9a4f60-d7a2-11ee-8c99-0242ac120002, '192.0.2.7', '2001:db8::1',
		'1969-12-30', '13:00:00.000000005', '2024-02-29T13:14:15.678Z', 1mo2d3ns, ['a', 'bc'], {3, 1, 2}, {'k': -1}, (7, 'seven'),
		{x: 1, y: 'one'}, [1, -2, 0.5], [1.5, -2.5], [1, -1], [1, -1], [01020304-0506-0708-090a-0b0c0d0e0f10], ['one', 'three'], [[1, 2], [3, 4]])`, nil},
	{`INSERT INTO capture.everything (id) VALUES (2)`, nil},
	{`SELECT * FROM capture.everything WHERE id = 1`, nil},
	{`SELECT * FROM capture.everything WHERE id = 2`, nil},
	{`CREATE TABLE capture.paged (k int, id bigint, v vector<float, 2>, PRIMARY KEY (k, id))`, nil},
	{`BEGIN UNLOGGED BATCH INSERT INTO capture.paged (k, id, v) VALUES (0, 0, [0, 1]) INSERT INTO capture.paged (k, id, v) VALUES (0, 1, [1, 1])
		INSERT INTO capture.paged (k, id) VALUES (0, 2) INSERT INTO capture.paged (k, id, v) VALUES (0, 3, [3, 1]) APPLY BATCH`, nil},
	{`SELECT id, v FROM capture.paged`, nil},
	{`INSERT INTO capture.paged (k, id) VALUES (0, 1) IF NOT EXISTS`, nil},
	// warns: no partition key
	{`SELECT count(*) FROM capture.paged`, func(q *vecql.Query) *vecql.Query { return q.Trace(noTracer{}) }},
	{`SELECT * FROM capture.paged`, nil},
	{`ALTER TABLE capture.paged ADD extra text`, nil},
	{`SELECT * FROM capture.paged`, nil}, // v5: metadata changed
	// changes without effect
	{`ALTER TABLE capture.paged ADD IF NOT EXISTS extra text`, nil},
	{`ALTER TABLE capture.paged DROP IF EXISTS nothing`, nil},
	{`ALTER TYPE capture.point ADD IF NOT EXISTS x int`, nil},
	{`CREATE TABLE IF NOT EXISTS capture.paged (id int PRIMARY KEY)`, nil},
	{`DROP TABLE IF EXISTS capture.nothing`, nil},
	// class names on v4
	{`CREATE TABLE capture.nested (id int PRIMARY KEY, a vector<frozen<set<float>>, 3>, b vector<frozen<point>, 1>,
		c vector<tuple<int, frozen<list<text>>>, 1>, d list<frozen<vector<frozen<map<int, frozen<set<int>>>>, 1>>>,
		e tuple<frozen<list<frozen<set<int>>>>>, f vector<set<float>, 3>, g vector<point, 1>)`, nil},
	{`INSERT INTO capture.nested (id, a, b, c, d, e, f, g) VALUES (1, [{1, 2}, {3}, {4}], [{x: 1, y: 'one'}], [(1, ['a'])], [[{1: {2}}]],
		([{1}]), [{1}, {2}, {3}], [{x: 1}])`, nil},
	{`SELECT * FROM capture.nested WHERE id = 1`, nil},
	{`SELECT type FROM system_schema.columns WHERE keyspace_name = 'capture' AND table_name = 'nested'`, nil},
	{`DROP TABLE capture.nested`, nil},
	{`SELEC`, nil},
	{`SELECT nothing FROM capture.paged`, nil},
	{`CREATE TABLE capture.paged (id int PRIMARY KEY)`, nil},
	// unavailable
	{`SELECT id FROM capture.everything WHERE id = 1`, func(q *vecql.Query) *vecql.Query { return q.Consistency(cql.Three) }},
	{`DROP KEYSPACE capture`, nil},
}

type noTracer struct{}

func (noTracer) Trace([]byte) {}

// TestCapture records the bytes of a real server. It is run by hand for a new version of a server.
func TestCapture(t *testing.T) {
	if *capture == "" {
		t.Skip("set -capture to record the traffic of a server")
	}
	for _, m := range []struct {
		version    int
		compressor cql.Compressor
	}{{4, nil}, {4, vecql.SnappyCompressor{}}, {5, nil}, {5, vecql.LZ4Compressor{}}} {
		cfg := config(t, bareNode)
		r := &recorder{}
		cfg.Pool.Dialer, cfg.Pool.NumConns, cfg.Keyspace = r, 1, "system"
		cfg.Protocol.Version, cfg.Compressor = m.version, m.compressor
		name := "none"
		if m.compressor != nil {
			name = m.compressor.Name()
		}
		s := connect(t, cfg)
		for _, c := range captured {
			q := s.Query(strings.Join(strings.Fields(c.cql), " ")).PageSize(2).Prefetch(0)
			if c.with != nil {
				q = c.with(q)
			}
			it := q.Iter(t.Context())
			for it.Scan(make([]any, len(it.Columns()))...) {
				continue
			}
			if err := it.Close(); err != nil { // some statements fail by design
				t.Log(c.cql, err)
			}
		}
		release := s.GetHosts()[0].Version
		s.Close()
		var out bytes.Buffer
		for i, c := range r.conns {
			fmt.Fprintf(&out, "# connection %d to Cassandra %s\n%s", i+1, release, c)
		}
		file := filepath.Join(*capture, fmt.Sprintf("cassandra-v%d-%s.hex", m.version, name))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
	}
}
