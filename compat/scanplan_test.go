// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"fmt"
	"math/big"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The plans of Scan beside Unmarshal, their reference.

// scanTypes are types of columns for plans.
var scanTypes = []string{
	"ascii", "bigint", "blob", "boolean", "counter", "date", "decimal", "double", "duration", "float", "inet", "int",
	"smallint", "text", "time", "timestamp", "timeuuid", "tinyint", "uuid", "varchar", "varint", "list<int>", "set<text>",
	"map<text, bigint>", "list<inet>", "vector<float, 2>", "frozen<list<frozen<list<date>>>>",
}

// ownCodec decodes itself.
type ownCodec struct{ text string }

func (o *ownCodec) UnmarshalCQL(info cql.TypeInfo, data []byte) error {
	if len(data) == 3 {
		return fmt.Errorf("3 bytes of %v", info)
	}
	o.text = fmt.Sprintf("%v %x %v", info, data, data == nil)
	return nil
}

type myText string

// scanDestinations returns new destinations, which hold values.
func scanDestinations() []any {
	n, text, at, null := 1, "old", time.Unix(7, 0), cql.NullOf("old")
	pn, id := &n, cql.UUID{1}
	var held, number any = "old", 5
	return []any{
		pn, &pn, new(int8), new(int16), new(int32), new(int64), new(uint), new(uint8), new(uint16), new(uint32), new(uint64),
		&text, new(*string), &[]byte{1}, new(*[]byte), new(myText), new(bool), new(*bool), new(float32), new(float64),
		new(*float64), &id, new(*cql.UUID), new([16]byte), &at, new(*time.Time), new(time.Duration), new(cql.Duration),
		&net.IP{1, 2, 3, 4}, new(*net.IP), new(big.Int), new(*big.Int), new(inf.Dec), new(*inf.Dec), &[]int{1}, new([]any),
		new([]string), &map[string]int{"old": 1}, new(map[string]any), new([]net.IP), new([2]float32), new([]float32),
		&held, new(any), &number, &null, &ownCodec{"old"}, new(*ownCodec), new(struct{ A int }), (*int)(nil), 7,
		[]any{nil},
	}
}

// rowMemory returns the memory of a row after one of 64 bytes.
func rowMemory(t *testing.T) *codec.Shared {
	shared, text := new(codec.Shared), ""
	plan := codec.NewScanPlan(cql.NativeType(cql.TypeVarchar), &text)
	require.NoError(t, plan.Store(cql.NativeType(cql.TypeVarchar), make([]byte, 64), &text, shared))
	shared.NextRow()
	return shared
}

// checkScanPlan stores a cell by the plan and by Unmarshal, and compares errors and values.
func checkScanPlan(t *testing.T, d *Dialect, info cql.TypeInfo, which int, cell []byte) {
	got, want := scanDestinations()[which], scanDestinations()[which]
	plan := d.ScanPlan(info, got)
	err, wantErr := plan.Store(info, cell, got, rowMemory(t)), d.Unmarshal(info, cell, want)
	if (err == nil) != (wantErr == nil) { // the texts differ where Unmarshal has no plan yet
		t.Fatalf("%v in %T, cell %x (NULL %v): error %v, Unmarshal: %v", info, got, cell, cell == nil, err, wantErr)
	}
	// as texts a NaN equals a NaN, and a zero differs from its negative
	if err == nil && !reflect.DeepEqual(got, want) && fmt.Sprintf("%#v", elem(got)) != fmt.Sprintf("%#v", elem(want)) {
		t.Fatalf("%v in %T, cell %x (NULL %v): %#v, Unmarshal: %#v", info, got, cell, cell == nil, elem(got), elem(want))
	}
}

// elem returns what dest points to.
func elem(dest any) any {
	if v := reflect.ValueOf(dest); v.Kind() == reflect.Pointer && !v.IsNil() {
		return v.Elem().Interface()
	}
	return dest
}

var scanDialects = []*Dialect{V1, V2, Fork}

// TestScanPlan decodes cells of many lengths into all destinations.
func TestScanPlan(t *testing.T) {
	long := []byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9, 200, 1, 2, 3, 4}
	cells := [][]byte{nil, {}, {5}, long[:2], {0, 0, 0}, {0, 0, 0, 0}, {127, 0, 0, 1}, long[:8], long[:12], long[:16], long}
	for _, d := range scanDialects {
		for _, text := range scanTypes {
			info := typeOf(t, text)
			for which := range scanDestinations() {
				for _, cell := range cells {
					checkScanPlan(t, d, info, which, cell)
				}
			}
		}
	}
}

func FuzzScanPlan(f *testing.F) {
	f.Add(uint8(0), uint8(13), uint8(11), false, []byte("text"))
	f.Add(uint8(2), uint8(10), uint8(28), false, []byte{127, 0, 0, 1})
	f.Add(uint8(1), uint8(5), uint8(24), true, []byte{})
	f.Fuzz(func(t *testing.T, dialect, typ, which uint8, null bool, cell []byte) {
		if null {
			cell = nil
		} else if cell == nil {
			cell = []byte{}
		}
		info := typeOf(t, scanTypes[int(typ)%len(scanTypes)])
		checkScanPlan(t, scanDialects[int(dialect)%len(scanDialects)], info, int(which)%len(scanDestinations()), cell)
	})
}
