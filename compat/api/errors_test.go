// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

func TestErrorOfAServerWithoutATypeHasItsCodeAndMessage(t *testing.T) {
	err := NewRequestError[uint16](&cql.ServerError{Code: 0x2000, Message: "line 1"})
	require.Equal(t, 0x2000, err.Code())
	require.Equal(t, "line 1", err.Message())
	require.Equal(t, "line 1", err.Error())
	f := err.(ErrorFrame)
	require.Equal(t, `[error code=2000 message="line 1"]`, f.String())
	require.Equal(t, "[header op=ERROR]", f.Header().String())
}

// TestErrorsOfServersHaveTheirFields converts each error of a server; a consistency level has the type of the module.
func TestErrorsOfServersHaveTheirFields(t *testing.T) {
	f := ErrorFrame{}
	failures := map[netip.Addr]uint16{netip.MustParseAddr("10.0.0.7"): 3, netip.MustParseAddr("::1"): 4}
	texts := ErrorMap{"10.0.0.7": 3, "::1": 4}
	for _, test := range []struct {
		err  error
		want RequestError
	}{
		{&cql.UnavailableError{Consistency: 1, Required: 2, Alive: 3}, &Unavailable[uint16]{f, 1, 2, 3}},
		{
			&cql.WriteTimeoutError{Consistency: 1, Received: 2, BlockFor: 3, WriteType: "CAS"},
			&WriteTimeout[uint16]{f, 1, 2, 3, "CAS"},
		},
		{
			&cql.ReadTimeoutError{Consistency: 1, Received: 2, BlockFor: 3, DataPresent: 4},
			&ReadTimeout[uint16]{f, 1, 2, 3, 4},
		},
		{
			&cql.ReadFailureError{Consistency: 1, Received: 2, BlockFor: 3, NumFailures: 4, DataPresent: true, ReasonMap: failures},
			&ReadFailure[uint16]{f, 1, 2, 3, 4, true, texts},
		},
		{
			&cql.WriteFailureError{Consistency: 1, Received: 2, BlockFor: 3, NumFailures: 4, WriteType: "VIEW"},
			&WriteFailure[uint16]{f, 1, 2, 3, 4, "VIEW", nil},
		},
		{
			&cql.CASWriteUnknownError{Consistency: 1, Received: 2, BlockFor: 3},
			&CASWriteUnknown[uint16]{f, 1, 2, 3},
		},
		{
			&cql.FunctionFailureError{Keyspace: "k", Function: "f", ArgTypes: []string{"int"}},
			&RequestErrFunctionFailure{f, "k", "f", []string{"int"}},
		},
		{&cql.CDCWriteFailureError{}, &RequestErrCDCWriteFailure{f}},
		{&cql.AlreadyExistsError{Keyspace: "k", Table: "t"}, &RequestErrAlreadyExists{f, "k", "t"}},
		{&cql.UnpreparedError{StatementID: []byte{1, 2}}, &RequestErrUnprepared{f, []byte{1, 2}}},
	} {
		require.Equal(t, test.want, NewRequestError[uint16](test.err))
	}
}

func TestErrorsWithATextOfTheProgram(t *testing.T) {
	err := NewErrProtocol("frame %d", 7)
	require.IsType(t, ErrProtocol{}, err)
	require.EqualError(t, err, "frame 7")
	require.EqualError(t, Error{Code: 1, Message: "text"}, "text")
	require.EqualError(t, MarshalError("m"), "m")
	require.EqualError(t, UnmarshalError("u"), "u")
}

// countFailure is an error of another number of values than bind markers.
type countFailure struct {
	text            string
	values, markers int
}

func (c *countFailure) Error() string                     { return c.text }
func (c *countFailure) ValueCount() (values, markers int) { return c.values, c.markers }

// moduleErrors are the errors of a module of the tests.
var moduleErrors = Errors{
	Server:    func(err error) error { return NewRequestError[uint16](err) },
	Marshal:   func(text string, cause error) error { return fmt.Errorf("M %s: %w", text, cause) },
	Unmarshal: func(text string, cause error) error { return fmt.Errorf("U %s: %w", text, cause) },
}

// failed returns err as the error of a request.
func failed(err error) error { return &vecql.RequestFailure{Err: err, Statement: "SELECT 1"} }

func TestErrorsOfVecqlBecomeThoseOfTheAPI(t *testing.T) {
	require.NoError(t, moduleErrors.Plain(nil))
	own := errors.New("of the program")
	require.True(t, moduleErrors.Plain(failed(FromProgram(own))) == own)
	require.ErrorIs(t, FromProgram(own), own)
	require.NoError(t, FromProgram(nil))
	for _, s := range sentinels {
		require.True(t, moduleErrors.Plain(failed(s.of)) == error(s), "%v", s)
		require.ErrorIs(t, s, s.of)
	}
	require.True(t, moduleErrors.Plain(failed(context.Canceled)) == context.Canceled)
	require.Equal(t, NewRequestError[uint16](&cql.ServerError{Code: 0x2000, Message: "line 1"}), moduleErrors.Plain(failed(&cql.ServerError{Code: 0x2000, Message: "line 1"})))
	cause := errors.New("cause")
	err := moduleErrors.Plain(failed(&cql.MarshalError{Column: "c", Type: cql.NativeType(cql.TypeInt), GoType: "string", Err: cause}))
	require.ErrorContains(t, err, "M vecql: ")
	require.ErrorIs(t, err, cause)
	err = moduleErrors.Plain(failed(&cql.UnmarshalError{Column: "c", Type: cql.NativeType(cql.TypeInt), GoType: "string", Err: cause}))
	require.ErrorContains(t, err, "U vecql: ")
	require.ErrorIs(t, err, cause)
	protocol := &cql.ProtocolError{Message: "bad"}
	require.Equal(t, ErrProtocol{protocol}, moduleErrors.Plain(failed(protocol)))
	require.True(t, moduleErrors.Plain(failed(cause)) == cause)
}

// TestNumberOfValuesIsTheErrorOfTheAPI, in a batch with the number of the statement.
func TestNumberOfValuesIsTheErrorOfTheAPI(t *testing.T) {
	one := &countFailure{"vecql: two", 1, 2}
	for _, test := range []struct {
		err, cause error
		text       string
	}{
		{one, one, "gocql: expected 2 values send got 1"},
		{failed(one), one, "gocql: expected 2 values send got 1"},
		{
			failed(&countFailure{"vecql: batch statement 3: two", 5, 0}), &countFailure{"vecql: batch statement 3: two", 5, 0},
			"gocql: batch statement 3 expected 0 values send got 5",
		},
	} {
		err := moduleErrors.Plain(test.err)
		require.EqualError(t, err, test.text)
		require.Equal(t, test.cause, errors.Unwrap(err))
	}
}
