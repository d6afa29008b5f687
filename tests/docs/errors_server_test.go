// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"net/netip"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Situations in which a server refuses a request.

// failing returns a function that reads a row while the node answers EXECUTE with an error.
func failing(e cqltest.Error) func(*testing.T) error {
	return inShop(func(_ *testing.T, s *shop) error {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &e})
		return s.Query(readOne, 1).RetryPolicy(vecql.SimpleRetryPolicy{}).Exec(context.Background())
	})
}

func serverSituations() []situation {
	const quorum = uint16(cql.Quorum)
	replica := map[netip.Addr]uint16{netip.MustParseAddr("10.0.0.2"): 1}
	text := func(stmt string, values ...any) func(t *testing.T) error {
		return inShop(func(_ *testing.T, s *shop) error { return s.Query(stmt, values...).Exec(context.Background()) })
	}
	unprepared := inShop(func(_ *testing.T, s *shop) error {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeUnprepared}})
		return s.Query(readOne, 1).RetryPolicy(vecql.SimpleRetryPolicy{}).Exec(context.Background())
	})
	limited := onCluster(cqltest.Config{Scylla: &cqltest.Scylla{}}, func(t *testing.T, s *shop) error {
		if err := s.start(t); err != nil {
			return err
		}
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeRateLimit, RejectedByCoordinator: true}})
		return s.Query(readOne, 1).RetryPolicy(vecql.SimpleRetryPolicy{}).Exec(t.Context())
	})
	answers := cqltest.Error{Consistency: quorum, Received: 1, Required: 2}
	with := func(code int32, change func(e *cqltest.Error)) cqltest.Error {
		e := answers
		if e.Code = code; change != nil {
			change(&e)
		}
		return e
	}
	unavailable := with(cqltest.CodeUnavailable, func(e *cqltest.Error) { e.Alive = 1 })
	failures := func(e *cqltest.Error) { e.Failures = replica }
	function := with(cqltest.CodeFunctionFailure, func(e *cqltest.Error) {
		e.Message, e.Keyspace, e.Function, e.ArgTypes = "java.lang.ArithmeticException: / by zero", "shop", "div", []string{"int", "int"}
	})
	plain := func(code int32, message string) cqltest.Error { return cqltest.Error{Code: code, Message: message} }
	list := []situation{
		{"cql.ServerError", "the node has a bug", as[*cql.ServerError](), failing(plain(cqltest.CodeServer, "java.lang.NullPointerException"))},
		{"cql.ServerError", "the node has a bug", as[*cql.ServerError](), failing(plain(cqltest.CodeServer, "java.lang.NullPointerException"))},
		{"cql.UnavailableError", "read with too few replicas alive", as[*cql.UnavailableError](), failing(unavailable)},
		{"cql.WriteTimeoutError", "a replica does not acknowledge in time", as[*cql.WriteTimeoutError](), failing(with(cqltest.CodeWriteTimeout, nil))},
		{"cql.ReadTimeoutError", "a replica does not answer in time", as[*cql.ReadTimeoutError](), failing(with(cqltest.CodeReadTimeout, nil))},
		{"cql.ReadFailureError", "a replica fails a read", as[*cql.ReadFailureError](), failing(with(cqltest.CodeReadFailure, failures))},
		{"cql.WriteFailureError", "a replica fails a write", as[*cql.WriteFailureError](), failing(with(cqltest.CodeWriteFailure, failures))},
		{"cql.FunctionFailureError", "a function of the user fails", as[*cql.FunctionFailureError](), failing(function)},
		{"cql.CDCWriteFailureError", "the CDC log is full", as[*cql.CDCWriteFailureError](), failing(plain(cqltest.CodeCDCWriteFailure, "CDC directory is full"))},
		{"cql.CASWriteUnknownError", "a conditional write has an unknown outcome", as[*cql.CASWriteUnknownError](), failing(with(cqltest.CodeCASWriteUnknown, nil))},
		{"cql.AlreadyExistsError", "create a table that exists", as[*cql.AlreadyExistsError](), text("CREATE TABLE shop.items (id int PRIMARY KEY)")},
		{"cql.UnpreparedError", "the node forgets a statement again and again", as[*cql.UnpreparedError](), unprepared},
		{"cql.RateLimitError", "exceed ScyllaDB's rate limit of a partition", as[*cql.RateLimitError](), limited},
		{"cql.CodeSyntax", "execute CQL that does not parse", is(cql.CodeSyntax), text("SELEKT name FROM shop.items")},
		{"cql.CodeInvalid", "read a table that does not exist", is(cql.CodeInvalid), text("SELECT name FROM shop.item WHERE id = ?", 1)},
		{"cql.CodeInvalid", "violate a constraint of Cassandra 6", is(cql.CodeInvalid), failing(plain(cqltest.CodeInvalid,
			"Column value does not satisfy value constraint for column 'price'. It should be price > 0"))},
		{"cql.CodeInvalid", "change the schema of Cassandra 6 while it is busy", is(cql.CodeInvalid), failing(plain(cqltest.CodeInvalid,
			"Could not perform commit after 3 attempts. Time remaining: 0ms"))},
		{"cql.CodeAlreadyExists", "create a keyspace that exists", is(cql.CodeAlreadyExists), text("CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")},
		{"cql.CodeUnprepared", "the node forgets a statement again and again", is(cql.CodeUnprepared), unprepared},
	}
	for _, c := range []struct {
		name string
		what string
		e    cqltest.Error
	}{
		{"Server", "the node has a bug", plain(cqltest.CodeServer, "java.lang.NullPointerException")},
		{"Protocol", "the node does not understand a request", plain(cqltest.CodeProtocol, "Invalid opcode")},
		{"Credentials", "the session's login has ended", plain(cqltest.CodeCredentials, "Session expired")},
		{"Unavailable", "read with too few replicas alive", unavailable},
		{"Overloaded", "the coordinator is overloaded", plain(cqltest.CodeOverloaded, "")},
		{"Bootstrapping", "the coordinator is bootstrapping", plain(cqltest.CodeBootstrapping, "")},
		{"Truncate", "a TRUNCATE fails", plain(cqltest.CodeTruncate, "Truncate timed out")},
		{"WriteTimeout", "a replica does not acknowledge in time", with(cqltest.CodeWriteTimeout, nil)},
		{"ReadTimeout", "a replica does not answer in time", with(cqltest.CodeReadTimeout, nil)},
		{"ReadFailure", "a replica fails a read", with(cqltest.CodeReadFailure, failures)},
		{"WriteFailure", "a replica fails a write", with(cqltest.CodeWriteFailure, failures)},
		{"FunctionFailure", "a function of the user fails", function},
		{"CDCWriteFailure", "the CDC log is full", plain(cqltest.CodeCDCWriteFailure, "CDC directory is full")},
		{"CASWriteUnknown", "a conditional write has an unknown outcome", with(cqltest.CodeCASWriteUnknown, nil)},
		{"Unauthorized", "read a table without the permission", plain(cqltest.CodeUnauthorized, "User a has no SELECT permission on <table shop.items>")},
		{"Config", "an option of a table is invalid", plain(cqltest.CodeConfig, "Missing compaction class")},
	} {
		list = append(list, situation{"cql.Code" + c.name, c.what, is(cql.Code(c.e.Code)), failing(c.e)})
	}
	return append(list, situation{"cql.Code", "the node answers with a code of no specification", as[*cql.ServerError](), failing(plain(0x7777, "new"))})
}
