// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Programs that wrote files, as arrow-go parses and judges them.

var writers = []string{
	"", "parquet-mr", "parquet-mr version 1.8.0", "parquet-mr version 1.7.9 (build abcd)", "parquet-mr version 1.2.8-SNAPSHOT", "parquet-mr version 1.2.9",
	"parquet-mr version 1.9.0", "parquet-mr version 1.10.0", "PARQUET-MR   version 1.8.0rc4-x+y (build abcd)", "parquet-mr version 1.5.0ab-cdh5.5.0+cd",
	"parquet-mr version 1.8", "parquet-mr version 99999999999999999999.0.0", "parquet-mr version 1.2.3 (build x) and more", "parquet-cpp version 1.2.9",
	"parquet-cpp version 1.3.0", "parquet-cpp version 1.5.1-SNAPSHOT", "parquet-cpp-arrow version 3.0.0", "parquet-cpp-arrow version 4.0.0", "parquet-go 1.0.0",
	"DuckDB version v1.1.0 (build abc)", "Polars", "a version version 1.0.0", "a\nversion 1.0.0", "version 1.0.0", "a version 1.0.0.4", "a version 1.0.", "a version 1..0",
	"a version 1.2.3+a\nb", "version version 1.2.3 (build)", "a version (build b) version 2.0.0", "a version 1.2.3 ( build b\n)", "a\n", "impala version 1.2-INTERNAL (build x(y)z)",
}

func requireVersion(t testing.TB, createdBy string) {
	t.Helper()
	if _, build, _ := strings.Cut(createdBy, "+"); strings.Contains(build, "\n") {
		return // arrow-go has no version of a build with a line break
	}
	got, want := versionOf(createdBy), metadata.NewAppVersion(createdBy)
	require.Equal(t, Version{want.App, [3]int{want.Version.Major, want.Version.Minor, want.Version.Patch}}, got, "%q", createdBy)
	require.Equal(t, want.LessThan(metadata.Parquet816FixedVersion), got.omitsDictionaryHeader(), "%q", createdBy)
	require.Equal(t, want.LessThan(metadata.NewAppVersionExplicit("parquet-cpp", 2, 0, 0)), got.CompressesAll(), "%q", createdBy)
	for physical := format.Boolean; physical <= format.FixedLenByteArray; physical++ {
		for kind, logical := range map[format.LogicalKind]schema.LogicalType{
			format.NoLogical: schema.NoLogicalType{}, format.LogicalString: schema.StringLogicalType{}, format.LogicalDecimal: schema.NewDecimalLogicalType(9, 2),
		} {
			for signed, order := range map[bool]schema.SortOrder{true: schema.SortSIGNED, false: schema.SortUNSIGNED} {
				l := &Leaf{Physical: physical, Logical: format.LogicalType{Kind: kind}}
				require.Equal(t, want.HasCorrectStatistics(parquet.Type(physical), logical, metadata.EncodedStatistics{}, order),
					got.CorrectStatistics(l, signed), "%q, %v, %v, signed %v", createdBy, physical, kind, signed)
			}
		}
	}
}

func TestVersions(t *testing.T) {
	for _, createdBy := range writers {
		requireVersion(t, createdBy)
	}
}

func FuzzVersion(f *testing.F) {
	for _, createdBy := range writers {
		f.Add(createdBy)
	}
	f.Fuzz(func(t *testing.T, createdBy string) { requireVersion(t, createdBy) })
}
