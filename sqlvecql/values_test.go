// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/valuetest"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/sqlvecql"
)

// A valueTable is a table with a column for each type of the table of CQL values.
type valueTable struct {
	*testing.T
	db      *sql.DB
	session *vecql.Session
}

func newValueTable(t *testing.T) *valueTable {
	_, db := start(t, strings.Join(valuetest.CreateTable("shop"), ";"))
	v := &valueTable{T: t, db: db}
	var err error
	v.session, err = sqlvecql.Session(t.Context(), v.db)
	require.NoError(t, err)
	return v
}

// signaling is a NaN that a float64 cannot carry: rows have the quiet one.
const signaling = "blob_as_float(0x7fa00001)"

// write stores an argument as a row, and returns the bytes of its cell.
func (v *valueTable) write(typ string, arg any) ([]byte, error) {
	name := valuetest.Column(typ)
	if _, err := v.db.ExecContext(v.Context(), "INSERT INTO v (id, "+name+") VALUES (?, ?)", 1, arg); err != nil {
		return nil, err
	}
	it := v.session.Query("SELECT " + name + " FROM v WHERE id = 1").Iter(v.Context())
	cells := make([][]byte, 1)
	require.True(v, it.NextRaw(cells))
	cell := bytes.Clone(cells[0])
	return cell, it.Close()
}

// scanDiffers returns how Scan differs from vecql by the text of package database/sql, as docs/values.md lists, "" if
// it does not.
func scanDiffers(typ string, form any) string {
	switch form.(type) {
	case []byte:
		if typ == "uuid" || typ == "timeuuid" {
			return "36 bytes are not a UUID" // the bytes of the text
		}
	case string:
		if typ == "date" {
			return "no conversion between these types" // a row has a time.Time
		}
	}
	return ""
}

// TestEveryValue writes each value of the table of CQL values in each Go form, and requires the bytes that Cassandra
// stores for the literal. Scan returns the Go form again. The value in an *any has the same bytes again.
func TestEveryValue(t *testing.T) {
	v := newValueTable(t)
	for _, value := range valuetest.Stored() {
		if value.Type == "counter" {
			continue
		}
		for _, form := range append(slices.Clone(value.Go), value.Unsorted...) {
			cell, err := v.write(value.Type, form)
			if err != nil || !bytes.Equal(cell, value.Recorded().Cell) {
				t.Errorf("%s from %T: stored %x, want %x: %v", value.Name(), form, cell, value.Recorded().Cell, err)
				continue
			}
			if cell == nil || value.Literal == signaling {
				continue
			}
			switch err, differs := v.requireForm(value, form, cell), scanDiffers(value.Type, form); {
			case differs == "":
				if err != nil {
					t.Errorf("%s into %T: %v", value.Name(), form, err)
				}
			default:
				require.ErrorContains(t, err, differs, "%s into %T", value.Name(), form)
			}
			if err := v.requireAny(value, cell); err != nil {
				t.Errorf("%s into *any: %v", value.Name(), err)
			}
		}
	}
}

// requireForm scans the cell into the Go type of a form.
func (v *valueTable) requireForm(value valuetest.Value, form any, cell []byte) error {
	into := reflect.New(reflect.TypeOf(form))
	var got any
	if err := v.db.QueryRowContext(v.Context(), "SELECT "+valuetest.Column(value.Type)+" FROM v WHERE id = 1").Scan(&got); err != nil {
		return err
	}
	if err := sqlvecql.ScanValue(into, got); err != nil {
		return err
	}
	again, err := vecql.Marshal(value.Info(), into.Elem().Interface())
	if err == nil && !bytes.Equal(sortedCell(value.Info(), again), sortedCell(value.Info(), cell)) {
		return errors.New("is " + hex.EncodeToString(again))
	}
	return err
}

// requireAny reads the cell into an *any and writes that.
func (v *valueTable) requireAny(value valuetest.Value, cell []byte) error {
	var got any
	if err := v.db.QueryRowContext(v.Context(), "SELECT "+valuetest.Column(value.Type)+" FROM v WHERE id = 1").Scan(&got); err != nil {
		return err
	}
	again, err := v.write(value.Type, got)
	if err == nil && !bytes.Equal(again, cell) {
		return fmt.Errorf("%v (%T) is stored as %x", got, got, again)
	}
	return err
}

// sortedCell returns the content of a cell with sorted sets and maps.
func sortedCell(info cql.TypeInfo, content []byte) []byte {
	whole := append(wire.AppendInt(nil, int32(len(content))), content...)
	return codec.NewSorter(info).SortCell(whole, 0)[4:]
}

// TestUnfitArgumentsAreRefused binds Go values that would lose a part.
func TestUnfitArgumentsAreRefused(t *testing.T) {
	v := newValueTable(t)
	for _, u := range valuetest.Unfits() {
		_, err := v.db.ExecContext(t.Context(), "INSERT INTO v (id, "+valuetest.Column(u.Type)+") VALUES (?, ?)", 1, u.Go)
		var refused *cql.MarshalError
		if !errors.As(err, &refused) {
			t.Errorf("%s from %T %v: %v", u.Type, u.Go, u.Go, err)
		}
	}
	var n int
	require.NoError(t, v.db.QueryRow("SELECT count(*) FROM v").Scan(&n))
	require.Zero(t, n)
}
