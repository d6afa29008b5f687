// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
)

// Changes of the schema that take long.

// changeTimeout bounds a change of the schema. Cassandra 5.0.9 answers the drop of an index when it has written the
// rows of the table to disk, with the index that is dropped: a minute or more for 50,000 rows. Cassandra 6.0-alpha2
// answers the creation of an index so, too, with the index that is created.
const changeTimeout = 10 * time.Minute

// execChange executes a statement that changes the schema, and returns the warnings of the server. If the server does
// not report whether the change was made, execChange executes the statement again, which must change nothing then.
//
// A node of Cassandra 6 waits for the node that keeps the log of the metadata as long as request_timeout, 10 s by
// default, or cms_await_timeout, 120 s, if it is the same node. Both may end while the index is built.
func execChange(ctx context.Context, session *vecql.Session, statement, again string) (warnings []string, err error) {
	bounded, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	for retry := 0; ; retry++ {
		info, err := session.Query(statement).RequestTimeout(changeTimeout).ExecInfo(ctx)
		switch {
		case err == nil:
			return info.Warnings, nil
		case errors.Is(err, vecql.ErrSchemaAgreement): // a node is still writing to disk
			return nil, awaitAgreement(bounded, session, err)
		}
		if !isUnknownChange(err) || !background.Sleep(bounded, background.Exponential(firstPoll, lastPoll, retry)) {
			return nil, err
		}
		statement = again
	}
}

// awaitAgreement waits longer for the end of err than a session does.
func awaitAgreement(ctx context.Context, session *vecql.Session, err error) error {
	for errors.Is(err, vecql.ErrSchemaAgreement) && ctx.Err() == nil {
		err = session.AwaitSchemaAgreement(ctx)
	}
	return err
}

// isUnknownChange reports whether a change of the schema of Cassandra 6 may have been made, or will be.
func isUnknownChange(err error) bool {
	var server *cql.ServerError
	if !errors.As(err, &server) || !vecql.MayHaveApplied(err) {
		return false
	}
	return server.Code == cql.CodeInvalid ||
		server.Code == cql.CodeServer && strings.Contains(server.Message, "waiting for the follower to enact")
}
