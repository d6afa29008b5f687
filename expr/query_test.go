// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Statements within expressions.

// A statementText is the text of a statement.
type statementText string

func (s statementText) String() string { return string(s) }

// until returns a parser of statements that end with the next parenthesis.
func until(text string) StatementParser {
	return func(offset int) (fmt.Stringer, int, error) {
		n := strings.IndexByte(text[offset:], ')')
		if n < 0 {
			return nil, 0, errors.New("no parenthesis")
		}
		return statementText(text[offset : offset+n]), offset + n, nil
	}
}

func TestStatementsWithinExpressions(t *testing.T) {
	for text, want := range map[string]string{
		"(select 1) + 2":                         "(select 1) + 2",
		"( SELECT 1 )":                           "(SELECT 1 )",
		"a in (select b from t) and c":           "a in (select b from t) and c",
		"a + 1 not in (select b) or not d":       "not a + 1 in (select b) or not d",
		"a = 1 in (select b)":                    "",
		"exists (select 1 from t where a)":       "exists (select 1 from t where a)",
		"not exists(select 1)":                   "not exists (select 1)",
		"(values (1)":                            "(values (1)",
		"(with x as (select 1)":                  "(with x as (select 1)",
		"(with) + (values) * 2":                  "with + values * 2",
		"values in (values, with)":               "values in (values, with)",
		"case when exists (select 1) then 2 end": "case when exists (select 1) then 2 else null end",
		"exists + 1":                             "exists + 1",
		"a in ((select 1), 2)":                   "a in ((select 1), 2)",
	} {
		e, end, err := ParsePrefix(text, 0, until(text))
		require.NoError(t, err, text)
		if want == "" {
			require.Equal(t, "in (select b)", text[end:], "comparisons have no order among themselves")
			continue
		}
		require.Equal(t, want, e.String())
		require.Equal(t, len(text), end)
	}
	_, _, err := ParsePrefix("a in (select b", 0, until("a in (select b"))
	require.EqualError(t, err, "no parenthesis")
	for _, text := range []string{"(select 1)", "a in (select 1)", "exists (select 1)"} {
		_, err := Parse(text)
		require.ErrorAs(t, err, new(*SyntaxError), text)
	}
}

func TestStatementsHaveNoValue(t *testing.T) {
	schema := column.Schema{{Name: "a", Type: typeInt64}}
	for text, op := range map[string]string{"(select 1)": "query", "a in (select 1)": "in query", "exists (select 1)": "exists"} {
		e, _, err := ParsePrefix(text, 0, until(text))
		require.NoError(t, err)
		n := e.Node()
		require.Equal(t, op, n.Op)
		require.Equal(t, statementText("select 1"), n.Value)
		_, err = Compile(e, schema)
		require.ErrorContains(t, err, "a statement has no value here")
		moved := e.Replace(func(part Expr) (Expr, bool) { return Col("b"), part.Node().Op == "column" })
		require.Equal(t, strings.Replace(text, "a", "b", strings.Count(text, "a in")), moved.String())
		require.Equal(t, n.Value, moved.Node().Value)
	}
}
