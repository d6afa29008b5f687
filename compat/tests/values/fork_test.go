// SPDX-License-Identifier: Apache-2.0

//go:build fork

package values

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocql/gocql"

	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/compat/tests/differ"
	"github.com/vecql/vecql/cql"
)

var fork = differ.Peer{
	Dialect: compat.Fork,
	Marshal: func(info cql.TypeInfo, value any) ([]byte, error) { return gocql.Marshal(forkInfo(info), value) },
	Unmarshal: func(info cql.TypeInfo, data []byte, dest any) error {
		return gocql.Unmarshal(forkInfo(info), data, dest)
	},
	UUID: reflect.TypeFor[gocql.UUID](), Duration: reflect.TypeFor[gocql.Duration](), Open: openFork,
	Vectors: true, Requirements: "fork",
}

// forkInfo returns info as a type of gocql.
func forkInfo(info cql.TypeInfo) gocql.TypeInfo {
	native := gocql.NewNativeType(4, gocql.Type(info.Type()))
	switch info := info.(type) {
	case cql.VectorType:
		vector := gocql.NewCustomType(4, gocql.TypeCustom, "org.apache.cassandra.db.marshal.VectorType")
		return gocql.VectorType{NativeType: vector, SubType: forkInfo(info.SubType), Dimensions: info.Dimensions}
	case cql.CollectionType:
		c := gocql.CollectionType{NativeType: native, Elem: forkInfo(info.Elem)}
		if info.Key != nil {
			c.Key = forkInfo(info.Key)
		}
		return c
	case cql.TupleTypeInfo:
		t := gocql.TupleTypeInfo{NativeType: native}
		for _, e := range info.Elems {
			t.Elems = append(t.Elems, forkInfo(e))
		}
		return t
	case cql.UDTTypeInfo:
		t := gocql.UDTTypeInfo{NativeType: native, KeySpace: info.Keyspace, Name: info.Name}
		for _, f := range info.Elements {
			t.Elements = append(t.Elements, gocql.UDTField{Name: f.Name, Type: forkInfo(f.Type)})
		}
		return t
	}
	return native
}

func TestFork(t *testing.T) { differ.Compare(t, fork, slices.Concat(differ.Vectors, differ.Fork)) }

func openFork(host string, port int) (differ.Session, error) {
	cluster := gocql.NewCluster(host)
	differ.Configure(cluster, port)
	s, err := cluster.CreateSession()
	return differ.Opened(s, err, func(stmt string, args []any) differ.Rows { return s.Query(stmt, args...).Iter() })
}

func TestForkRows(t *testing.T) {
	differ.CompareRows(t, fork, map[string]string{"github.com/gocql/gocql": "../../scyllagocql"}, differ.ForkRows)
}

func FuzzFork(f *testing.F) { differ.Fuzz(f, fork, differ.Fork) }

func TestForkRecorded(t *testing.T) { differ.CompareRecorded(t, fork) }
