// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/stats"
	"github.com/vecql/vecql/tablescan"
	"github.com/vecql/vecql/vector"
)

// Errors with the status codes of ADBC.

// failed returns an error with a status.
func failed(code adbc.Status, format string, args ...any) error {
	return adbc.Error{Code: code, Msg: "adbcvecql: " + fmt.Sprintf(format, args...)}
}

// unprefixed returns the text of an error for the end of another one, which has a prefix already.
func unprefixed(err error) string { return strings.TrimPrefix(err.Error(), "vecql: ") }

// wrapped returns an error of the driver as an adbc.Error. what names the operation.
func wrapped(what string, err error) error {
	var done adbc.Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	out := adbc.Error{Code: statusOf(err), Msg: "adbcvecql: " + message(what, err)}
	var refused *cql.ServerError
	if errors.As(err, &refused) {
		out.VendorCode = int32(refused.Code)
	}
	switch out.Code { // SQL:2003 has no states for tables; these are ODBC's
	case adbc.StatusNotFound:
		copy(out.SqlState[:], "42S02")
	case adbc.StatusAlreadyExists:
		copy(out.SqlState[:], "42S01")
	}
	return out
}

// rewordings are errors whose texts name parts of Go's API, with their texts here.
var rewordings = []struct {
	err  error
	text string
}{
	{vecql.ErrUseStmt, "USE is not possible: set the option " + adbc.OptionKeyCurrentDbSchema},
	{
		search.ErrSchema, "the table has a column query, rank, score or distance, as the result: select other columns by " +
			optionSearchColumns,
	},
}

// message returns the text of an error, which begins with the operation once.
func message(what string, err error) string {
	for _, r := range rewordings {
		if errors.Is(err, r.err) {
			return what + ": " + r.text
		}
	}
	text := unprefixed(err)
	if strings.HasPrefix(text, what+" ") || strings.HasPrefix(text, what+":") {
		return text
	}
	return what + ": " + text
}

// statuses are the errors with one status. Statuses of classes follow in statusOfClass.
var statuses = []struct {
	err    error
	status adbc.Status
}{
	{context.Canceled, adbc.StatusCancelled},
	{context.DeadlineExceeded, adbc.StatusTimeout},
	{cql.CodeCredentials, adbc.StatusUnauthenticated},
	{cql.CodeUnauthorized, adbc.StatusUnauthorized},
	{cql.CodeAlreadyExists, adbc.StatusAlreadyExists},
	{vecql.ErrKeyspaceDoesNotExist, adbc.StatusNotFound},
	{vecql.ErrNoTable, adbc.StatusNotFound},
	{vecql.ErrUnsupported, adbc.StatusNotImplemented},
	{vecql.ErrSessionClosed, adbc.StatusInvalidState},
	{vecql.ErrUseStmt, adbc.StatusInvalidArgument},
	{vecql.ErrValueCount, adbc.StatusInvalidArgument},
	{vecql.ErrNoKeyspace, adbc.StatusInvalidArgument},
	{bulk.ErrColumns, adbc.StatusInvalidArgument},
	{bulk.ErrCounters, adbc.StatusNotImplemented},
	{bulk.ErrOptions, adbc.StatusInvalidArgument},
	{column.ErrNoColumn, adbc.StatusInvalidArgument},
	{arrowcolumn.ErrUnsupported, adbc.StatusNotImplemented},
	{arrowcolumn.ErrMalformed, adbc.StatusInvalidData},
	{arrowcolumn.ErrRange, adbc.StatusInvalidData},
	{cql.ErrRange, adbc.StatusInvalidData},
	{cql.ErrDimension, adbc.StatusInvalidData},
	{tablescan.ErrCheckpoint, adbc.StatusInvalidArgument},
	{tablescan.ErrPartitioner, adbc.StatusNotImplemented},
	{vecql.ErrNoHosts, adbc.StatusInvalidArgument},
	{search.ErrTarget, adbc.StatusNotFound},
	{search.ErrNoIndex, adbc.StatusInvalidState},
	{search.ErrMetric, adbc.StatusInvalidArgument},
	{search.ErrK, adbc.StatusInvalidArgument},
	{search.ErrOption, adbc.StatusInvalidArgument},
	{search.ErrRow, adbc.StatusInvalidArgument},
	{search.ErrSchema, adbc.StatusInvalidArgument},
	{vector.ErrZero, adbc.StatusInvalidArgument},
	{vector.ErrNonFinite, adbc.StatusInvalidArgument},
}

// statusOf returns the status of an error of the driver.
func statusOf(err error) adbc.Status {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	var bound *cql.MarshalError
	var read *cql.UnmarshalError
	var scan *tablescan.StatementError
	var filter *search.FilterError
	var syntax *expr.SyntaxError
	var dimension *vector.DimensionError
	var waiting *search.IndexNotReadyError
	switch {
	case errors.As(err, &waiting):
		return adbc.StatusInvalidState
	case errors.As(err, &filter), errors.As(err, &syntax), errors.As(err, &dimension):
		return adbc.StatusInvalidArgument
	case errors.As(err, &bound), errors.As(err, &scan):
		return adbc.StatusInvalidArgument
	case errors.As(err, &read):
		return adbc.StatusInvalidData
	case strings.Contains(err.Error(), "requires credentials"):
		return adbc.StatusUnauthenticated
	case errors.Is(err, vecql.ErrNoConnectionsStarted):
		return adbc.StatusIO
	}
	return statusOfClass(err)
}

// missingTexts are parts of the server's texts about a table or keyspace that is missing. The code of these errors,
// CodeInvalid, is also the code of a statement that is wrong.
var missingTexts = []string{"does not exist", "doesn't exist", "unconfigured table"}

// keyTexts are parts of the server's texts about a column of the primary key without a value.
var keyTexts = []string{"Invalid null value in condition for column", "Invalid unset value for column", "Key may not be empty"}

// statusOfClass returns the status of the class of an error.
func statusOfClass(err error) adbc.Status {
	switch vecql.ErrorClassOf(err) {
	case stats.ClassCanceled:
		return adbc.StatusCancelled
	case stats.ClassTimeout, stats.ClassReadTimeout, stats.ClassWriteTimeout:
		return adbc.StatusTimeout
	case stats.ClassInvalid:
		contains := func(part string) bool { return strings.Contains(err.Error(), part) }
		switch {
		case slices.ContainsFunc(missingTexts, contains):
			return adbc.StatusNotFound
		case slices.ContainsFunc(keyTexts, contains):
			return adbc.StatusIntegrity
		}
		return adbc.StatusInvalidArgument
	case stats.ClassOther:
		return adbc.StatusUnknown
	case stats.ClassProtocol:
		return adbc.StatusInternal
	}
	return adbc.StatusIO
}
