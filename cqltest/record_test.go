// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Captures of what the driver does not send: v3 and the flag USE_BETA. Cassandra's answers are written by
//
//	go test -run TestRecordCaptures -record 127.0.0.1 ./cqltest

var record = flag.String("record", "", "address of a Cassandra node: write its answers to testdata/captures")

// recordedStatements are executed in this order, in the keyspace old.
var recordedStatements = []string{
	"CREATE KEYSPACE old WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "USE old",
	"CREATE TYPE pair (a int, b smallint)",
	"CREATE TABLE t (k int, c int, s text static, sm smallint, ti tinyint, da date, tm time, du duration, ts timestamp, tu timeuuid, " +
		"l list<smallint>, m map<date, text>, tp tuple<tinyint, text>, p frozen<pair>, v vector<smallint, 2>, n frozen<list<frozen<set<time>>>>, " +
		"PRIMARY KEY (k, c))",
	"INSERT INTO t (k, c, s, sm, ti, da, tm, du, ts, l, m, tp, p, v, n) VALUES (1, 1, 'x', 2, 3, '2024-02-29', '12:00:00', 1h, 0, [1, 2], " +
		"{'2024-02-29': 'd'}, (1, 'y'), {a: 1, b: 2}, [1, 2], [{'01:00:00'}])",
	"INSERT INTO t (k, c) VALUES (1, 2)", "INSERT INTO t (k, c) VALUES (1, 3)",
	"SELECT * FROM t WHERE k = 1", "SELECT sm, ti FROM t", "SELECT count(*) FROM t", "SELECT k / 0 FROM t", "SELECT nothing FROM t", "SELEC",
	"INSERT INTO t (k, c, sm) VALUES (1, 1, 5) IF NOT EXISTS", "UPDATE t SET sm = 6 WHERE k = 1 AND c = 1 IF sm = 2",
	"BEGIN BATCH INSERT INTO t (k, c) VALUES (1, 4) INSERT INTO t (k, c) VALUES (1, 5) APPLY BATCH",
	"SELECT c FROM t WHERE k = 1 ORDER BY c DESC LIMIT 2", "ALTER TABLE t ADD extra smallint", "SELECT extra FROM t WHERE k = 1",
	"CREATE TABLE t (k int PRIMARY KEY)", "CREATE TABLE vectors (k int PRIMARY KEY, v vector<float, 2>)",
	"CREATE CUSTOM INDEX ON vectors (v) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}",
	"TRUNCATE t", "SELECT * FROM t", "DROP TABLE vectors", "DROP TABLE t", "DROP TYPE pair", "DROP KEYSPACE old",
}

// recordedConn writes what it transfers as lines of a capture.
type recordedConn struct {
	net.Conn
	out *strings.Builder
}

func (c recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.write("<", p[:n])
	return n, err
}

func (c recordedConn) Write(p []byte) (int, error) {
	c.write(">", p)
	return c.Conn.Write(p)
}

func (c recordedConn) write(direction string, p []byte) {
	for len(p) > 0 {
		n := min(len(p), 64)
		fmt.Fprintln(c.out, direction, hex.EncodeToString(p[:n]))
		p = p[n:]
	}
}

// TestRecordCaptures records the answers of a real server. It is run by hand for a new version of a server.
func TestRecordCaptures(t *testing.T) {
	if *record == "" {
		t.Skip("set -record to record the answers of a server")
	}
	for name, m := range map[string]struct{ version, flags byte }{
		"v3-none": {3, 0}, "v3-none-beta": {3, flagBeta}, "v4-none-beta": {4, flagBeta}, "v5-none-beta": {5, flagBeta},
	} {
		sock, err := net.Dial("tcp", net.JoinHostPort(*record, "9042"))
		require.NoError(t, err)
		var out strings.Builder
		fmt.Fprintln(&out, "# connection 1 to Cassandra 5.0.9")
		tc := newTestClient(t, recordedConn{sock, &out}, m.version)
		tc.startup(OpReady)
		tc.call(OpOptions, m.flags, nil)
		for _, text := range recordedStatements {
			tc.call(OpQuery, m.flags, tc.queryBody(text))
			if strings.HasPrefix(text, "INSERT INTO t (k, c) VALUES (1, 3)") {
				recordPrepared(t, tc, m.flags)
			}
		}
		require.NoError(t, sock.Close())
		file := "testdata/captures/cassandra-" + name + ".hex"
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
}

// recordPrepared prepares statements and executes one of them.
func recordPrepared(t *testing.T, tc *testClient, flags byte) {
	prepare := func(text string) (id, resultID []byte) {
		body := append(appendInt(nil, int32(len(text))), text...)
		if tc.version >= 5 {
			body = appendInt(body, 0)
		}
		r := reader{b: tc.call(OpPrepare, flags, body).body}
		require.EqualValues(t, 4, r.int())
		if id = r.shortBytes(); tc.version >= 5 {
			resultID = r.shortBytes()
		}
		return id, resultID
	}
	prepare("INSERT INTO old.t (k, c, sm, da) VALUES (?, ?, ?, ?)")
	id, resultID := prepare("SELECT c, sm, l, m FROM old.t WHERE k = ?")
	tc.call(OpExecute, flags, tc.executeBody(id, resultID, 0, "\x00\x00\x00\x01"))
	tc.call(OpExecute, flags, tc.executeBody(id, resultID, paramSkipMetadata, "\x00\x00\x00\x01"))
	tc.call(OpExecute, flags, tc.executeBody(make([]byte, 16), resultID, 0, "\x00\x00\x00\x01"))
}
