// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"fmt"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/frame"
)

// Registration for events (native_protocol_v5.spec, section 4.1.7).
//
// A control connection registers for changes of the cluster, every connection for a graceful disconnect (Cassandra's
// CEP-59). A server that stops first announces that on each connection that has registered for the event, stops
// accepting connections, and answers the requests in flight. The event is also the key in SUPPORTED. It has no fields,
// and concerns the connection that it arrives on.

// Register requests the events of these types on conn.
func Register(ctx context.Context, conn *Conn, events []string) error {
	body := GetBuffer(64)
	defer body.Release()
	var err error
	if body.B, err = frame.AppendRegister(body.B[:0], events); err != nil {
		return err
	}
	resp, err := conn.RoundTrip(ctx, &Request{Op: frame.OpRegister, Body: body})
	if err != nil {
		return err
	}
	defer resp.Body.Release()
	_, r, err := frame.ReadEnvelope(resp.Header.Flags, resp.Body.B)
	if err != nil {
		return err
	}
	switch op := frame.Opcode(resp.Header.Opcode); op {
	case frame.OpReady:
		return nil
	case frame.OpError:
		return frame.ParseError(&r, conn.Version(), 0)
	default:
		return &cql.ProtocolError{Message: fmt.Sprintf("REGISTER answered with %v", op)}
	}
}

// errShutdown means that the connection was closed because the server announced its end.
var errShutdown = errors.New("the node shuts down")

// RegisterShutdown registers for the event. A server that refuses announces nothing, which is no reason to do without
// the connection.
func RegisterShutdown(ctx context.Context, c *Conn) error {
	err := Register(ctx, c, []string{frame.EventGraceful})
	var refused *cql.ServerError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
