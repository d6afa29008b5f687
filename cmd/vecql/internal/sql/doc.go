// SPDX-License-Identifier: Apache-2.0

// Package sql runs SELECT statements of one shape on a pipe: one source for each SELECT, no joins.
//
//	[DESCRIBE] SELECT [DISTINCT [ON (expression, ...)]] * | expression [AS name], ...
//	FROM read('*.parquet', ...) | 'file.csv' | [keyspace.]table | (statement)
//	[WHERE condition] [GROUP BY expression | ROLLUP (...) | CUBE (...) | GROUPING SETS (...), ...] [HAVING condition]
//	[ORDER BY expression [ASC | DESC] [NULLS FIRST | LAST], ...] [LIMIT n] [OFFSET n]
//
// Expressions are as in package expr, with aggregates and subqueries. A subquery runs when the statement around it is
// planned, and its value is a literal or a set of the plan. GROUP BY and ORDER BY also accept names and positions of
// columns of the result. Names of columns match in another case if only one column differs so; unquoted names of tables
// are in lower case, as in CQL.
// NULL comes last, unless NULLS FIRST is set. DESCRIBE returns the names and types of the columns, of a statement or of
// a source. A statement of another shape is refused with the name of what it has.
//
// The parser of statements is this package's own: the general parsers of SQL in Go bring expressions of their own, with
// other types, literals and functions, whose translation would be longer than the grammar around expr's.
//
// The parser shares the lexer with package expr and leaves expressions to expr.ParsePrefix. A statement is translated
// to a pipe: expressions are passed to its verbs as trees, so that errors of the compiler have their place in the
// statement. Words of SQL that the package refuses are recognized after a syntax error, from the tokens at its place.
package sql
