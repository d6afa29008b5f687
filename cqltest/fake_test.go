// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest/internal/engine"
	"github.com/vecql/vecql/internal/token"
)

// A fake database with a handful of statements, so that tests of the nodes do not need the engine.

// fakeDB stores cells by key in one table, ks.t (k text, v text). It supports:
//
//	SELECT ... FROM <virtual table> ...   all rows and columns of it
//	GET ?          the value of a key     LIST   all keys, paged       PUT ?, ?   and PUT ?, ? IF
//	HERE   is LIST, but needs a keyspace in use
//	USE name       CHANGE   changes the schema: statements prepared before are invalid, and GET returns one column more
type fakeDB struct {
	replication map[string]map[string]string

	mu       sync.Mutex
	virtuals map[string]engine.Virtual
	data     map[string][]byte
	order    []string
	version  int
	executed []string
}

func newFakeDB() *fakeDB {
	db := &fakeDB{
		virtuals: map[string]engine.Virtual{}, data: map[string][]byte{},
		replication: map[string]map[string]string{"ks": {"class": "SimpleStrategy", "replication_factor": "2"}},
	}
	db.AddVirtual(engine.Virtual{
		Keyspace: "system_schema", Name: "keyspaces",
		Columns: "keyspace_name text p; replication map<text, text>",
		Rows: func(any) []map[string]any {
			var rows []map[string]any
			for name, r := range db.replication {
				rows = append(rows, Row{"keyspace_name": name, "replication": r})
			}
			return rows
		},
	})
	return db
}

func (db *fakeDB) AddVirtual(v engine.Virtual) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.virtuals[v.Keyspace+"."+v.Name] = v
}

var fromTable = regexp.MustCompile(`^SELECT .* FROM ([a-z_.0-9]+)`)

func (db *fakeDB) Prepare(keyspace, text string) (*engine.Statement, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	s := &engine.Statement{Text: text, Keyspace: keyspace, Table: engine.Name{Keyspace: "ks", Table: "t"}}
	col := func(name string) engine.Column {
		return engine.Column{Keyspace: "ks", Table: "t", Name: name, Type: engine.Native("text")}
	}
	if m := fromTable.FindStringSubmatch(text); m != nil {
		v, ok := db.virtuals[m[1]]
		if !ok {
			return nil, &engine.Error{Code: engine.CodeInvalid, Message: "unconfigured table " + m[1]}
		}
		s.Kind, s.Table = engine.StatementSelect, engine.Name{Keyspace: v.Keyspace, Table: v.Name}
		for spec := range strings.SplitSeq(v.Columns, ";") {
			words := strings.Fields(spec)
			typ := engine.Native(words[1])
			if typ == nil {
				typ = engine.ListOf(engine.Native("text"))
			}
			s.Result = append(s.Result, engine.Column{Keyspace: v.Keyspace, Table: v.Name, Name: words[0], Type: typ})
		}
		return s, nil
	}
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "HERE":
		if keyspace == "" {
			return nil, &engine.Error{Code: engine.CodeInvalid, Message: "no keyspace"}
		}
		s.Kind, s.Result = engine.StatementSelect, []engine.Column{col("k")}
	case "GET":
		s.Kind, s.Bind, s.PKIndexes, s.Result = engine.StatementSelect, []engine.Column{col("k")}, []int{0}, []engine.Column{col("v")}
		s.BindTypes = []string{"text"}
		for i := range db.version {
			s.Result = append(s.Result, col("more"+string(rune('a'+i))))
		}
	case "LIST":
		s.Kind, s.Result = engine.StatementSelect, []engine.Column{col("k")}
	case "PUT":
		s.Kind, s.Bind, s.PKIndexes = engine.StatementInsert, []engine.Column{col("k"), col("v")}, []int{0}
		s.BindTypes = []string{"text", "text"}
		s.Conditional = strings.HasSuffix(text, " IF")
	case "USE":
		s.Kind = engine.StatementUse
	case "CHANGE":
		s.Kind = engine.StatementSchema
	default:
		return nil, &engine.Error{Code: engine.CodeSyntax, Message: "unknown statement: " + text}
	}
	return s, nil
}

func (db *fakeDB) Valid(s *engine.Statement) bool {
	db.mu.Lock()
	defer db.mu.Unlock()
	return s.Kind != engine.StatementSelect || !strings.HasPrefix(s.Text, "GET") || len(s.Result) == db.version+1
}

func (db *fakeDB) Token(s *engine.Statement, values []engine.Value, _ bool) (int64, bool) {
	if len(s.PKIndexes) == 0 || len(values) == 0 {
		return 0, false
	}
	return token.Murmur3(values[0].Bytes), true
}

func (db *fakeDB) UsesTablets(string) bool { return true }

func (db *fakeDB) Replication(keyspace string) (map[string]string, bool) {
	r, ok := db.replication[keyspace]
	return r, ok
}

func (db *fakeDB) Consistency(string) string { return "" }

func (db *fakeDB) SchemaVersion() [16]byte {
	db.mu.Lock()
	defer db.mu.Unlock()
	return md5.Sum([]byte{byte(db.version)})
}

func (db *fakeDB) Execute(_ context.Context, s *engine.Statement, r *engine.Request) (*engine.Result, error) {
	if len(r.Values) != len(s.Bind) {
		return nil, &engine.Error{Code: engine.CodeInvalid, Message: "wrong number of values"}
	}
	rows := &engine.Result{Kind: engine.ResultRows, Columns: s.Result}
	if v, ok := db.virtuals[s.Table.Keyspace+"."+s.Table.Table]; ok {
		for _, row := range v.Rows(r.Node) {
			var cells [][]byte
			for _, c := range s.Result {
				cells = append(cells, fakeCell(row[c.Name]))
			}
			rows.Rows = append(rows.Rows, cells)
		}
		return rows, nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.executed = append(db.executed, s.Text)
	switch word, arg, _ := strings.Cut(s.Text, " "); word {
	case "GET":
		if v, ok := db.data[string(r.Values[0].Bytes)]; ok {
			rows.Rows = [][][]byte{append([][]byte{v}, make([][]byte, len(s.Result)-1)...)}
		}
		return rows, nil
	case "LIST", "HERE":
		from := 0
		if r.PagingState != nil {
			if len(r.PagingState) != 2 {
				return nil, &engine.Error{Code: engine.CodeProtocol, Message: "Invalid value for the paging state"}
			}
			from = int(binary.BigEndian.Uint16(r.PagingState))
		}
		to := len(db.order)
		if r.PageSize > 0 && from+r.PageSize < to {
			to = from + r.PageSize
			rows.PagingState = binary.BigEndian.AppendUint16(nil, uint16(to))
		}
		for _, k := range db.order[min(from, to):to] {
			rows.Rows = append(rows.Rows, [][]byte{[]byte(k)})
		}
		return rows, nil
	case "PUT":
		k := string(r.Values[0].Bytes)
		if _, ok := db.data[k]; !ok {
			db.order = append(db.order, k)
		}
		db.data[k] = r.Values[1].Bytes
		if s.Conditional {
			return &engine.Result{
				Kind: engine.ResultRows, Columns: []engine.Column{{Keyspace: "ks", Table: "t", Name: "[applied]", Type: engine.Native("boolean")}},
				Rows: [][][]byte{{{1}}},
			}, nil
		}
		return &engine.Result{Kind: engine.ResultVoid, Warnings: nil}, nil
	case "USE":
		return &engine.Result{Kind: engine.ResultSetKeyspace, Keyspace: arg}, nil
	case "CHANGE":
		db.version++
		return &engine.Result{Kind: engine.ResultSchemaChange, Change: &engine.Change{
			Change: "UPDATED", Target: "TABLE", Keyspace: "ks", Name: "t",
		}}, nil
	}
	return nil, errors.New("not reached")
}

func (db *fakeDB) Batch(ctx context.Context, _ engine.BatchType, entries []engine.BatchEntry, r *engine.Request) (*engine.Result, error) {
	for _, e := range entries {
		if _, err := db.Execute(ctx, e.Statement, &engine.Request{Values: e.Values}); err != nil {
			return nil, err
		}
	}
	return &engine.Result{Kind: engine.ResultVoid}, nil
}

func (db *fakeDB) count(text string) int {
	db.mu.Lock()
	defer db.mu.Unlock()
	n := 0
	for _, s := range db.executed {
		if s == text {
			n++
		}
	}
	return n
}

// fakeCell serializes a value of a virtual table.
func fakeCell(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case int:
		return binary.BigEndian.AppendUint32(nil, uint32(v))
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v))
	case bool:
		return []byte{bit(v)}
	case [16]byte:
		return v[:]
	case netip.Addr:
		return v.AsSlice()
	case time.Time:
		return binary.BigEndian.AppendUint64(nil, uint64(v.UnixMilli()))
	case []string:
		b := appendInt(nil, int32(len(v)))
		for _, s := range v {
			b = appendBytes(b, []byte(s))
		}
		return b
	case map[string]string:
		b := appendInt(nil, int32(len(v)))
		for _, k := range sortedKeys(v) {
			b = appendBytes(appendBytes(b, []byte(k)), []byte(v[k]))
		}
		return b
	}
	return nil
}

// startFake starts a cluster over a fakeDB.
func startFake(t testing.TB, cfg Config) (*Cluster, *fakeDB) {
	t.Helper()
	cfg, err := cfg.withDefaults()
	require.NoError(t, err)
	db := newFakeDB()
	c := &Cluster{}
	require.NoError(t, c.start(cfg, db))
	t.Cleanup(c.Close)
	return c, db
}
