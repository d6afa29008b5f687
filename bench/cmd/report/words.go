// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// The names of benchmarks and of their cases in words, for pictures.

// tableNames are what one operation of a benchmark does.
var tableNames = map[string]string{
	"Insert":     "INSERT of",
	"ReadRow":    "SELECT of",
	"Scan":       "scan of",
	"Marshal":    "encode a vector of",
	"Unmarshal":  "decode a vector of",
	"Production": "",
	"Bulk":       "",
	"ADBC":       "",
	"Collection": "",
}

// caseNames are the parts of cases in words, by name=value, or by name= for any value, which replaces a %.
var caseNames = map[string]string{
	"row=vector":   "a vector of 1,536 floats",
	"row=small":    "a row of two integers",
	"row=mixed":    "a row of twenty columns",
	"row=ten":      "a row of ten columns",
	"inflight=1":   "one request at a time",
	"inflight=":    "% requests in flight",
	"version=":     "protocol v%",
	"rows=vector":  "rows with a vector of 1,536 floats",
	"dim=":         "% elements",
	"type=":        "type %",
	"into=fresh":   "into new memory",
	"into=reused":  "into the same memory",
	"op=marshal":   "encode",
	"op=unmarshal": "decode",
	"case=":        "%",
	"verb=load":    "load",
	"verb=unload":  "unload",
	"verb=write":   "write",
	"verb=read":    "read",
	"rows=vectors": "rows with vectors",
	"rows=lists":   "rows with lists of floats",
	"rows=small":   "rows of ten small columns",
	"rows=mixed":   "rows of twenty columns of all types",
	"server=":      "server %",
	"frame=polars": "Polars",
	"frame=pandas": "pandas",
	"frame=duckdb": "DuckDB",
}

// settingValues are the values of the parts of a setting in words; "" leaves the part out.
var settingValues = map[string]string{
	"insert-small":  "INSERT of ten small columns",
	"insert-vector": "INSERT of a vector",
	"read-vector":   "SELECT of a vector",
	"scan-small":    "scan of rows of ten small columns",
	"scan-vector":   "scan of rows with vectors",
	"scan-mixed":    "scan of rows of twenty columns",
	"plain":         "plain",
	"tls":           "TLS",
	"lz4":           "LZ4",
}

// title returns a case of the table in words.
func (t *table) title(c string) string {
	if t.name == production {
		return settingTitle(c)
	}
	words := []string{}
	for part := range strings.FieldsSeq(c) {
		name, value, _ := strings.Cut(part, "=")
		text, ok := caseNames[part]
		if !ok {
			text, ok = caseNames[name+"="]
		}
		if !ok {
			text = part
		}
		value = strings.Replace(value, ">", "> of ", 1) // list<float>1000
		words = append(words, strings.Replace(text, "%", value, 1))
	}
	what, ok := tableNames[t.name]
	if !ok {
		what = t.name + ":"
	}
	return capital(strings.TrimSpace(what + " " + strings.Join(words, ", ")))
}

// capital returns a text with a capital at its beginning.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// settingTitle returns a case of the family Production in words.
func settingTitle(c string) string {
	var s setting
	copy(s[:], strings.Fields(c))
	words := []string{
		s[settingOp], "plain", "", "one connection", "", s[settingVersion], s[settingInFlight] + " in flight",
	}
	for i, part := range []int{settingOp, settingNet, settingCompress} {
		words[i] = settingValues[s[part]]
	}
	if words[settingOp] == "" {
		words[settingOp] = s[settingOp]
	}
	if s[3] != "1" {
		words[3] = s[3] + " connections"
	}
	if s[4] == "each" {
		words[4] = "deadlines"
	}
	kept := words[:0]
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return capital(strings.Join(kept, ", "))
}
