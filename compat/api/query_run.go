// SPDX-License-Identifier: Apache-2.0

package gocql

// The verbs of queries that read one row.

// one runs the query and returns the error of a verb that reads one row. scan reads the row and reports whether there
// was one.
func (q *query[S, R, C]) one(scan func(RowReader) bool) error {
	if q.run == nil {
		return ErrSessionClosed
	}
	it := q.run(q.whole())
	return CloseOne(it, scan(it))
}

// Scan runs the query and stores the columns of the first row in dest. It returns ErrNotFound if there is no row.
func (q *query[S, R, C]) Scan(dest ...any) error {
	return q.one(func(it RowReader) bool { return it.Scan(dest...) })
}

// MapScan runs the query and stores the first row in m. It returns ErrNotFound if there is no row.
func (q *query[S, R, C]) MapScan(m map[string]any) error {
	return q.one(func(it RowReader) bool { return it.MapScan(m) })
}

// ScanCAS runs a conditional statement and reports whether it was applied. If it was not, the current values are
// stored in dest.
func (q *query[S, R, C]) ScanCAS(dest ...any) (applied bool, err error) {
	err = q.one(func(it RowReader) bool { return ScanCAS(it, &applied, dest) })
	return applied, err
}

// MapScanCAS runs a conditional statement and reports whether it was applied. If it was not, the current values are
// stored in dest.
func (q *query[S, R, C]) MapScanCAS(dest map[string]any) (applied bool, err error) {
	err = q.one(func(it RowReader) (found bool) {
		applied, found = MapScanCAS(it, dest)
		return found
	})
	return applied, err
}
