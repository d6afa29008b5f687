// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// BenchmarkRead reads a file of rows with an int, a text, a double, a timestamp, a bigint, a boolean and a vector of 32
// floats. One operation is a file of 10,000 rows.
func BenchmarkRead(b *testing.B) {
	stamp := column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	fields := column.Schema{
		fieldOf("id", kindOf(column.Int32)), fieldOf("name", kindOf(column.String)), fieldOf("price", kindOf(column.Float64)),
		fieldOf("at", stamp), fieldOf("n", kindOf(column.Int64)), fieldOf("ok", kindOf(column.Bool)),
		fieldOf("v", column.VectorOf(column.Float32, 32)),
	}
	for _, format := range []string{"csv", "json"} {
		b.Run("format="+format, func(b *testing.B) {
			const rows = 10000
			text := benchText(format, rows)
			path := filepath.Join(b.TempDir(), "items."+format)
			require.NoError(b, os.WriteFile(path, text, 0o600))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				in, err := Open(Options{Fields: fields}, path)
				require.NoError(b, err)
				got := 0
				for batch, err := range in.Batches(b.Context()) {
					require.NoError(b, err)
					got += batch.Rows
				}
				require.Equal(b, rows, got)
			}
		})
	}
}

// benchText returns the content of a file of BenchmarkRead.
func benchText(format string, rows int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var out bytes.Buffer
	line := `{"id": %d, "name": "name %d", "price": %v, "at": "2024-01-%02dT10:00:00.%03dZ", "n": %d, "ok": %v, "v": %s}` + "\n"
	if format == "csv" {
		out.WriteString("id,name,price,at,n,ok,v\n")
		line = `%d,name %d,%v,2024-01-%02dT10:00:00.%03dZ,%d,%v,"%s"` + "\n"
	}
	for i := range rows {
		var v []byte
		for range 32 {
			v = fmt.Appendf(v, ", %v", float32(r.NormFloat64()))
		}
		fmt.Fprintf(&out, line, i, r.IntN(1e6), r.Float64()*1000, 1+i%28, i%1000, r.IntN(1e9), i%2 == 0,
			"["+string(v[2:])+"]")
	}
	return out.Bytes()
}
