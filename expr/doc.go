// SPDX-License-Identifier: Apache-2.0

// Package expr implements expressions on the columns of batches: comparisons, logic, arithmetic, texts, times and
// vectors. An expression is made in Go or parsed from text, compiled once for a schema, and evaluated on batches in
// loops over typed slices.
//
//	e := expr.Col("price").Gt(3).And(expr.Col("name").Like("a%"))
//	e, err := expr.Parse("price > 3 and name like 'a%'")              // the same
//	p, err := expr.Compile(e, batch.Schema())
//	rows, err := p.Select(batch, rows[:0])                            // the numbers of the rows for which it is true
//	rows, err = q.Refine(batch, rows)                                 // of these, the rows for which program q is true
//	c, err := p.Eval(batch)                                           // its values, a column.Column
//
// Spaces and comments separate words: from -- to the end of the line, or from /* to */.
//
// # NULL
//
// Logic is SQL's, with three values. A function of NULL is NULL, except for IS NULL, COALESCE, CASE, IN, AND and OR.
// The operands of AND and OR, the members of IN, and the branches of CASE and COALESCE are evaluated from left to
// right, each only on rows whose result is still open; errors occur in evaluated rows only.
//
// A predicate is a condition in Select, Refine and the branches of CASE. A condition is either true or not, so that AND
// stops at the first operand that is false or NULL. Eval of a predicate returns true, false or NULL: it evaluates the
// predicate as a condition, then its opposite as a condition of the rows for which the predicate is not true.
//
// # Numbers
//
// Comparisons are exact, also between integers of any width, floats and literals: an int32 column is greater than 2.5
// if it is at least 3. Floats have the total order of package groupby, of parquetscan's filters and of DuckDB: NaN
// equals NaN and is greater than all numbers, -0 equals 0. Arithmetic of integers is computed in int64, or in uint64
// if an operand is uint64, which does not combine with signed columns without a cast. A result out of range is an
// error, and so is division by zero. Arithmetic with a float is computed in float64 by IEEE 754: division by zero is
// an infinity or NaN. Casts to a type that lacks the value are errors; floats become the nearest integer, of two the
// even one.
//
// Arithmetic of decimals is exact, beside decimals, integers and literals: a literal 0.05 there is five hundredths, not
// the nearest float. Results have the digits that they need, up to 38: Decimal64 up to 18 digits, Decimal128 beyond. A
// result with more digits is an error. Quotients of decimals are floats, and beside a float a decimal is the nearest
// float, also in comparisons. Decimal256, Decimal and Varint, whose numbers have any size, only have casts and IS NULL;
// Inet, Duration and nested kinds only IS NULL.
//
// # Texts
//
// Texts compare by their bytes. LENGTH, SUBSTRING and _ of LIKE count characters; each byte outside of UTF-8 is one.
// The escape character of LIKE is the backslash. An expression on one text column is evaluated once per entry of the
// column's dictionary.
//
// # Times
//
// Text literals beside dates, times and timestamps become their values; without a zone they are in UTC. A timestamp of
// unknown local time is taken as UTC. DATE_TRUNC and EXTRACT accept the name of a zone; other functions use UTC. An
// interval adds months first, then days of 24 hours, then the rest; a day beyond the end of its month becomes the last
// day.
package expr
