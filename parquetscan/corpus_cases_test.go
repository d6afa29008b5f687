// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"math"
)

// Files that this package reads differently from pyarrow, with the reasons.

const (
	noType      = "a logical type that means that all values are NULL is read as the physical type"
	noLZ4       = "arrow-go does not have the codec LZ4"
	wraps       = "out of the range of nanoseconds: pyarrow overflows"
	columnKeys  = "pyarrow takes no keys of columns; these files have the same values"
	paddedPages = "arrow-go misreads the pages after padded page headers, which parquet-mr writes in encrypted files"
	noKeys      = "pyarrow takes no keys of columns, and no other file has the same values; these are the numbers of its writer"
)

var pyarrowCases = corpusCases{
	"text-delta.parquet": {"f5": {why: "arrow-go has DELTA_BYTE_ARRAY for byte arrays of any length only", noReference: true}},
	"nested.parquet":     {"nothing": {why: noType, typ: "int32"}, "no_list": {why: noType, typ: "list<int32>"}},
	"nested-v2.parquet":  {"nothing": {why: noType, typ: "int32"}, "no_list": {why: noType, typ: "list<int32>"}},
}

// Files that are encrypted with one key; the other files of their directories have the same values.
const (
	uniform    = "data/uniform_encryption.parquet.encrypted"
	uniform256 = "data/aes256/uniform_encryption.parquet.encrypted"
)

var (
	sameAsUniform = map[string]corpusCase{
		"int96_field": {why: wraps, err: ErrOutOfRange},
		"float_field": {why: columnKeys, like: uniform}, "double_field": {why: columnKeys, like: uniform},
	}
	sameAsUniform256 = map[string]corpusCase{
		"int96_field": {why: wraps, err: ErrOutOfRange}, "*": {why: columnKeys + "; " + paddedPages, like: uniform256, noReference: true},
	}
	allLZ4 = map[string]corpusCase{"*": {why: noLZ4, noReference: true}}
)

var parquetTestingCases = corpusCases{
	"data/hadoop_lz4_compressed.parquet":        allLZ4,
	"data/hadoop_lz4_compressed_larger.parquet": allLZ4,
	"data/non_hadoop_lz4_compressed.parquet":    allLZ4,
	"data/incorrect_map_schema.parquet": {
		"":       {why: "keys may be NULL: pyarrow rejects such files"},
		"my_map": {why: "keys may be NULL", typ: "map<string,string>", values: []string{`[["parent","another"],["name","report"]]`}},
	},
	"data/datapage_v2_empty_datapage.snappy.parquet": {
		"value": {why: "arrow-go accepts empty compressed data, which is invalid Snappy", noReference: true},
	},
	"data/int96_from_spark.parquet": {"a": {why: wraps, err: ErrOutOfRange}},
	"data/null_list.parquet":        {"emptylist": {why: noType, typ: "list<int32>"}},

	"data/encrypt_columns_and_footer.parquet.encrypted":                     sameAsUniform,
	"data/encrypt_columns_and_footer_aad.parquet.encrypted":                 sameAsUniform,
	"data/encrypt_columns_and_footer_ctr.parquet.encrypted":                 sameAsUniform,
	"data/encrypt_columns_and_footer_disable_aad_storage.parquet.encrypted": sameAsUniform,
	"data/encrypt_columns_plaintext_footer.parquet.encrypted":               sameAsUniform,
	uniform: {"int96_field": {why: wraps, err: ErrOutOfRange}},
	"data/encrypt_columns_and_footer_bloom_filter.parquet.encrypted": {
		"double_field": {why: noKeys + "; " + paddedPages, typ: "float64", values: countedDoubles(2000), noReference: true},
		"float_field":  {why: noKeys + "; " + paddedPages, typ: "float32", values: countedFloats(2000), noReference: true},
		"int32_field":  {why: noKeys, typ: "int32", values: counted("%d", 2000)},
		"name":         {why: noKeys, typ: "string", values: counted(`"name_%d"`, 2000)},
	},
	"data/external_key_material_java.parquet.encrypted": {
		"": {why: "its keys are in another file, wrapped by a key server that does not exist", err: ErrEncrypted},
	},

	"data/aes256/encrypt_columns_and_footer.parquet.encrypted":                     sameAsUniform256,
	"data/aes256/encrypt_columns_and_footer_ctr.parquet.encrypted":                 sameAsUniform256,
	"data/aes256/encrypt_columns_and_footer_disable_aad_storage.parquet.encrypted": sameAsUniform256,
	"data/aes256/encrypt_columns_plaintext_footer.parquet.encrypted":               sameAsUniform256,
	uniform256: {"int96_field": {why: wraps, err: ErrOutOfRange}, "*": {why: paddedPages, noReference: true}},

	// These bad files have good columns. The other bad files fail as in pyarrow.
	"bad_data/ARROW-GH-41317.parquet": {"null": {why: noType, typ: "int32"}},
	"bad_data/ARROW-GH-41321.parquet": {"null": {why: noType, typ: "int32"}},
	"bad_data/PARQUET-1481.parquet": {
		"": {why: "an unknown physical type may be a future one", err: ErrUnsupported},
	},
}

// counted returns the texts of the numbers 0 to n-1.
func counted(format string, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(format, i)
	}
	return texts
}

// countedDoubles returns the texts of 0.5, 1.5 and so on: their bits.
func countedDoubles(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("%016x", math.Float64bits(float64(i)+0.5))
	}
	return texts
}

// countedFloats returns the texts of 0.25, 1.25 and so on: their bits.
func countedFloats(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("%08x", math.Float32bits(float32(i)+0.25))
	}
	return texts
}
