// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// The table of search and recall, and the errors of package search as the tool prints them.

// searchFlags are the flags that search and recall have in common.
type searchFlags struct {
	where, metric string
	exact         bool             // of search
	consistency   *cql.Consistency // of the command line; nil means that package search chooses
	isTool        bool             // the search is a call of mcp, whose arguments have the names of the flags
}

// flag returns the name of a flag in texts.
func (f *searchFlags) flag(name string) string {
	if f.isTool {
		return name
	}
	return "--" + name
}

// metrics are the values of --metric.
var metrics = map[string]vector.Metric{"cosine": vector.Cosine, "euclidean": vector.L2, "dot": vector.Dot}

// add defines the flags of a verb.
func (f *searchFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.where, "where", "", "search among the rows of a `condition`")
	c.Flags().StringVar(&f.metric, "metric", "", "`similarity`: cosine, euclidean or dot; default the one of the index")
	must(c.RegisterFlagCompletionFunc("metric",
		cobra.FixedCompletions([]string{"cosine", "euclidean", "dot"}, cobra.ShellCompDirectiveNoFileComp)))
}

// connectSearch opens a session for a search. Package search chooses the consistency level of a search by an index,
// unless the command line states one: Cassandra warns of the levels that profiles state for other requests.
func (e *env) connectSearch(ctx context.Context, f *searchFlags) (*vecql.Session, error) {
	if err := f.checkMetric(); err != nil {
		return nil, err
	}
	if _, err := strconv.Atoi(e.flags.keyspace); err == nil {
		return nil, usagef("--keyspace is %s, and -k is short for it: the number of rows is --k", e.flags.keyspace)
	}
	if e.flags.set.Changed("consistency") {
		f.consistency = &e.flags.consistency.level
	}
	return e.connect(ctx)
}

// checkMetric returns a usage error for a similarity that does not exist.
func (f *searchFlags) checkMetric() error {
	if f.metric != "" && metrics[f.metric] == 0 {
		return usagef("%s is %q, want cosine, euclidean or dot", f.flag("metric"), f.metric)
	}
	return nil
}

// metricName returns the value of --metric for a metric.
func metricName(m vector.Metric) string {
	for name, metric := range metrics {
		if metric == m {
			return name
		}
	}
	return m.String()
}

// openSearch opens the table of a target, "keyspace.table" or "keyspace.table(column)".
func (f *searchFlags) openSearch(ctx context.Context, session *vecql.Session, target string,
) (t clustertable.Table, q *search.Query[map[string]any], err error) {
	if t, err = findTable(ctx, session, tableOf(target)); err != nil {
		return t, nil, err
	}
	if q, err = search.Open[map[string]any](ctx, session, target); err != nil {
		return t, nil, err
	}
	if f.where != "" {
		q = q.Where(f.where)
	}
	if f.metric != "" {
		q = q.Metric(metrics[f.metric])
	}
	if f.consistency != nil {
		q = q.Consistency(*f.consistency)
	}
	return t, q, nil
}

// tableOf returns the table of a target.
func tableOf(target string) string {
	var words []string
	for _, word := range cqltext.Tokens(target) {
		words = append(words, word)
	}
	if n := len(words); n > 3 && words[n-3] == "(" && words[n-1] == ")" {
		words = words[:n-3]
	}
	return strings.Join(words, "")
}

// failed returns the error of a search with what to do about it by flags.
func (f *searchFlags) failed(err error, target string) error {
	var filter *search.FilterError
	var notReady *search.IndexNotReadyError
	var syntax *expr.SyntaxError
	switch {
	case errors.Is(err, search.ErrNoIndex):
		return advise(fmt.Errorf("%s: %w", target, search.ErrNoIndex), "%s reads all rows and compares them", f.flag("exact"))
	case errors.Is(err, search.ErrMetric) && f.exact:
		return advise(fmt.Errorf("%s: no index states the similarity", target), "%s states it: cosine, euclidean or dot", f.flag("metric"))
	case errors.Is(err, search.ErrK), errors.As(err, &filter):
		return advise(err, "%s searches without an index", f.flag("exact"))
	case errors.As(err, &notReady):
		return advise(err, "repeat the command when the index is built")
	case errors.Is(err, vecql.ErrNotFound):
		return fmt.Errorf("%s: no row has the key of %s", target, f.flag("like"))
	case errors.As(err, &syntax) && f.where != "":
		caret := strings.Repeat(" ", len([]rune(f.where[:min(syntax.Offset, len(f.where))]))) + "^"
		text := strings.TrimPrefix(syntax.Error(), "expr: ")
		return placedError{fmt.Errorf("%s: %s", f.flag("where"), text), f.where + "\n" + caret}
	}
	return err
}

// withoutVectors returns the columns of a table that are not vectors of floats.
func withoutVectors(t *cql.TableMetadata) []string {
	var names []string
	for _, name := range t.OrderedColumns {
		if v, ok := t.Columns[name].Type.(cql.VectorType); !ok || v.SubType.Type() != cql.TypeFloat {
			names = append(names, name)
		}
	}
	return names
}

// infosOf describes columns of a table, as a result of the server does.
func infosOf(t *cql.TableMetadata, names []string) []cql.ColumnInfo {
	infos := make([]cql.ColumnInfo, len(names))
	for i, name := range names {
		infos[i] = cql.ColumnInfo{Keyspace: t.Keyspace, Table: t.Name, Name: name, TypeInfo: t.Columns[name].Type}
	}
	return infos
}
