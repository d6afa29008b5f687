// SPDX-License-Identifier: Apache-2.0

//go:build !fork

// Package values compares the dialects of package compat with gocql itself.
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

var v1 = differ.Peer{
	Dialect: compat.V1,
	Marshal: func(info cql.TypeInfo, value any) ([]byte, error) { return gocql.Marshal(v1Info(info), value) },
	Unmarshal: func(info cql.TypeInfo, data []byte, dest any) error {
		return gocql.Unmarshal(v1Info(info), data, dest)
	},
	UUID: reflect.TypeFor[gocql.UUID](), Duration: reflect.TypeFor[gocql.Duration](), Open: openV1, Requirements: "api",
}

// v1Info returns info as a type of gocql.
func v1Info(info cql.TypeInfo) gocql.TypeInfo {
	native := gocql.NewNativeType(4, gocql.Type(info.Type()), "")
	switch info := info.(type) {
	case cql.CollectionType:
		c := gocql.CollectionType{NativeType: native, Elem: v1Info(info.Elem)}
		if info.Key != nil {
			c.Key = v1Info(info.Key)
		}
		return c
	case cql.TupleTypeInfo:
		t := gocql.TupleTypeInfo{NativeType: native}
		for _, e := range info.Elems {
			t.Elems = append(t.Elems, v1Info(e))
		}
		return t
	case cql.UDTTypeInfo:
		t := gocql.UDTTypeInfo{NativeType: native, KeySpace: info.Keyspace, Name: info.Name}
		for _, f := range info.Elements {
			t.Elements = append(t.Elements, gocql.UDTField{Name: f.Name, Type: v1Info(f.Type)})
		}
		return t
	}
	return native
}

// compatModules are the folders of the compat modules by import path.
var compatModules = map[string]string{
	"github.com/gocql/gocql": "../../gocql", "github.com/apache/cassandra-gocql-driver/v2": "../../gocqlv2",
}

func TestV1(t *testing.T) { differ.Compare(t, v1, slices.Concat(differ.BigInts, differ.Apache)) }

func openV1(host string, port int) (differ.Session, error) {
	cluster := gocql.NewCluster(host)
	differ.Configure(cluster, port)
	s, err := cluster.CreateSession()
	return differ.Opened(s, err, func(stmt string, args []any) differ.Rows { return s.Query(stmt, args...).Iter() })
}

func TestV1Rows(t *testing.T) {
	differ.CompareRows(t, v1, compatModules, []differ.Difference{differ.Made})
}

func FuzzV1(f *testing.F) { differ.Fuzz(f, v1, differ.Apache) }

func TestV1Recorded(t *testing.T) { differ.CompareRecorded(t, v1) }
