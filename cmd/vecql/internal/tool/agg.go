// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/sql"
)

// The verb agg: aggregates of files by groups.

// newAggCommand returns the verb agg.
func newAggCommand(e *env) *cobra.Command {
	o, clauses := &sqlOptions{}, sql.Clauses{}
	c := &cobra.Command{
		Use:   "agg FILE...",
		Short: "Aggregate the rows of files by groups",
		Long: `Agg groups the rows of files (Parquet, CSV, JSON lines or Arrow) and prints a row
for each group: the expressions of --by, then the ones of --agg. Names after AS are
the names of the columns. Files may be patterns, folders, or - for standard input.
Without --agg it counts rows. It takes the expressions of vecql sql;
without --by all rows are one group.`,
		Example: `  vecql agg items.parquet --by name
  vecql agg items.parquet --by name --output svg > items.svg
  vecql agg items.parquet --where "id > 0" --by "length(name) as n" --agg "max(id)"
  vecql agg 'items*.parquet' --agg "sum(price) / count(price) as mean"
  vecql agg items.parquet --by name --having "max(id) > 1" --order name --limit 3`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			clauses.Files = args
			if len(clauses.Aggregates) == 0 {
				clauses.Aggregates = []string{"count(*) as count"}
			}
			switch {
			case clauses.Limit < -1:
				return usagef("--limit is %d, want at least 0", clauses.Limit)
			case clauses.Offset < 0:
				return usagef("--offset is %d, want at least 0", clauses.Offset)
			}
			s, err := clauses.Statement()
			if err != nil {
				return placed(err)
			}
			return e.runStatement(c.Context(), o, s)
		},
	}
	o.add(e, c)
	c.Flags().StringVar(&clauses.Where, "where", "", "aggregate the rows of a `condition`")
	c.Flags().StringArrayVar(&clauses.By, "by", nil, "group by an `expression [as name]`; several flags for several")
	c.Flags().StringArrayVar(&clauses.Aggregates, "agg", nil, "`aggregates [as name]` such as sum(x) / count(*); default count(*)")
	c.Flags().StringVar(&clauses.Having, "having", "", "print the groups of a `condition`")
	c.Flags().StringArrayVar(&clauses.Order, "order", nil, "order by an `expression [desc] [nulls first]`")
	c.Flags().Int64Var(&clauses.Limit, "limit", -1, "print at most this `number` of groups")
	c.Flags().Int64Var(&clauses.Offset, "offset", 0, "leave out this `number` of groups first")
	return c
}
