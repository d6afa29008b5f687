// SPDX-License-Identifier: Apache-2.0

//go:build !fork

package values

import (
	"reflect"
	"slices"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/compat/tests/differ"
	"github.com/vecql/vecql/cql"
)

var v2 = differ.Peer{
	Dialect: compat.V2,
	Marshal: func(info cql.TypeInfo, value any) ([]byte, error) { return gocql.Marshal(v2Info(info), value) },
	Unmarshal: func(info cql.TypeInfo, data []byte, dest any) error {
		return gocql.Unmarshal(v2Info(info), data, dest)
	},
	UUID: reflect.TypeFor[gocql.UUID](), Duration: reflect.TypeFor[gocql.Duration](), Open: openV2, Requirements: "api",
	Vectors: true,
}

// v2Info returns info as a type of gocql.
func v2Info(info cql.TypeInfo) gocql.TypeInfo {
	switch info := info.(type) {
	case cql.VectorType:
		return gocql.VectorType{SubType: v2Info(info.SubType), Dimensions: info.Dimensions}
	case cql.TupleTypeInfo:
		t := gocql.TupleTypeInfo{}
		for _, e := range info.Elems {
			t.Elems = append(t.Elems, v2Info(e))
		}
		return t
	case cql.UDTTypeInfo:
		t := gocql.UDTTypeInfo{Keyspace: info.Keyspace, Name: info.Name}
		for _, f := range info.Elements {
			t.Elements = append(t.Elements, gocql.UDTField{Name: f.Name, Type: v2Info(f.Type)})
		}
		return t
	case cql.CollectionType:
		var c gocql.CollectionType
		switch info.Type() {
		case cql.TypeList:
			c = gocql.NewNativeType(4, gocql.TypeCustom, "ListType(Int32Type)").(gocql.CollectionType)
		case cql.TypeSet:
			c = gocql.NewNativeType(4, gocql.TypeCustom, "SetType(Int32Type)").(gocql.CollectionType)
		case cql.TypeMap:
			c = gocql.NewNativeType(4, gocql.TypeCustom, "MapType(Int32Type,Int32Type)").(gocql.CollectionType)
			c.Key = v2Info(info.Key)
		}
		c.Elem = v2Info(info.Elem)
		return c
	}
	return gocql.NewNativeType(4, gocql.Type(info.Type()), "")
}

func TestV2(t *testing.T) {
	differ.Compare(t, v2, slices.Concat(differ.Vectors, differ.TimeUUIDs, differ.Apache))
}

func openV2(host string, port int) (differ.Session, error) {
	cluster := gocql.NewCluster(host)
	differ.Configure(cluster, port)
	s, err := cluster.CreateSession()
	return differ.Opened(s, err, func(stmt string, args []any) differ.Rows { return s.Query(stmt, args...).Iter() })
}

func TestV2Rows(t *testing.T) {
	differ.CompareRows(t, v2, compatModules, []differ.Difference{differ.Made})
}

func FuzzV2(f *testing.F) { differ.Fuzz(f, v2, differ.Apache) }

func TestV2Recorded(t *testing.T) { differ.CompareRecorded(t, v2) }
