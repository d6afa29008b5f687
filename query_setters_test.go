// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rule for names of setters (CONTRIBUTING.md, Style): a setter is named by its option and returns its receiver, its
// getter is Get and the option, and an option that queries and batches share has the same name and parameters on both.

// settersOf returns, by name, the methods of v that return only the type of v. It checks their names and getters.
func settersOf(t *testing.T, v any) map[string]reflect.Method {
	setters := map[string]reflect.Method{}
	typ := reflect.TypeOf(v)
	for i := range typ.NumMethod() {
		if m := typ.Method(i); m.Type.NumOut() == 1 && m.Type.Out(0) == typ {
			setters[m.Name] = m
		}
	}
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		_, isSetter := setters[m.Name]
		for _, prefix := range []string{"Set", "With", "Is", "No"} {
			rest, found := strings.CutPrefix(m.Name, prefix)
			require.False(t, found && startsUpper(rest), "%v.%s: a setter is named by its option, a getter is Get and the option", typ, m.Name)
		}
		if option, found := strings.CutPrefix(m.Name, "Get"); found {
			require.False(t, isSetter, "%v.%s: a setter without Get", typ, m.Name)
			require.Contains(t, setters, option, "%v.%s: a getter without its setter", typ, m.Name)
		}
	}
	return setters
}

func startsUpper(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

func TestSettersAreNamedByTheirOptions(t *testing.T) {
	query, batch := settersOf(t, new(Query)), settersOf(t, new(Batch))
	// Options of queries only, and methods that add statements to a batch.
	ofQueries := []string{"NullsUnset", "PageSize", "PageState", "Prefetch", "RoutingKey", "RoutingToken", "SkipMetadata"}
	ofBatches := []string{"Query"}
	differ := []string{"Bind", "Observer"} // parameters differ between queries and batches
	for name, q := range query {
		b, shared := batch[name]
		require.NotEqual(t, shared, slices.Contains(ofQueries, name), "Query.%s: Batch.%s", name, name)
		if !shared || slices.Contains(differ, name) {
			continue
		}
		require.Equal(t, q.Type.NumIn(), b.Type.NumIn(), name)
		for i := 1; i < q.Type.NumIn(); i++ {
			require.Equal(t, q.Type.In(i), b.Type.In(i), name)
		}
	}
	for name := range batch {
		_, shared := query[name]
		require.NotEqual(t, shared, slices.Contains(ofBatches, name), "Batch.%s: Query.%s", name, name)
	}
	for _, name := range []string{"Keyspace", "HostID", "Timestamp", "NowInSeconds", "SpeculativeExecutionPolicy", "RequestTimeout", "Idempotent"} {
		require.Contains(t, query, name)
	}
}
