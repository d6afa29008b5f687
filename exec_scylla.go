// SPDX-License-Identifier: Apache-2.0

package vecql

import "context"

// This file fits requests to the extensions of ScyllaDB that a connection has. They may differ from one node to the next while a cluster
// is upgraded, and even change when a node comes back, but a body is encoded once for all attempts. It is written for what the last
// connection opened has (Session.metadataIDs); for a connection that has something else a copy is made. So a cluster whose nodes are
// alike pays nothing, and one that is being upgraded pays a copy on some of its nodes for as long as that takes.

// dialect is what the body of an EXECUTE was written for.
type dialect struct {
	message int  // where the message begins, behind a custom payload
	hasID   bool // a result metadata id on v4
}

// unknownMetadata is the result metadata id of who knows none.
var unknownMetadata = []byte{}

// hasMetadataID reports whether EXECUTE carries result metadata ids on v4.
func (s *Session) hasMetadataID() bool { return s.version < protoV5 && s.metadataIDs.Load() }

// sawFeatures notes what the connection opened last has.
func (s *Session) sawFeatures(f *features) {
	if s.metadataIDs.Load() != f.metadataID {
		s.metadataIDs.Store(f.metadataID)
	}
}

// appendExecute appends the message of an EXECUTE with the values and parameters of c. withID says that v4 connections have result
// metadata ids.
func (c *call) appendExecute(dst []byte, version byte, id, metadataID []byte, withID bool) ([]byte, error) {
	c.dialect.message, c.dialect.hasID = len(dst), withID
	if version < protoV5 {
		if !withID {
			metadataID = nil
		} else if metadataID == nil {
			metadataID = unknownMetadata
		}
	}
	return appendExecute(dst, version, id, metadataID, &c.params)
}

// callOn sends the call on a connection, in the words of that connection.
func (s *Session) callOn(ctx context.Context, conn *conn, c *call) (response, error) {
	f := &conn.features
	translate := conn.version() < protoV5 && c.dialect.hasID != f.metadataID
	if c.req.op != opExecute || !translate && !f.tabletsV2 {
		return conn.roundTrip(ctx, &c.req)
	}
	req := c.req
	body, start := c.req.body.b, c.dialect.message
	req.body = getBuffer(len(body) + 3)
	defer req.body.release()
	req.body.b = append(req.body.b[:0], body[:start]...)
	var err error
	if translate {
		req.body.b, err = translateExecute(req.body.b, body[start:], c.dialect.hasID, f.metadataID)
	} else {
		req.body.b = append(req.body.b, body[start:]...)
	}
	if err != nil {
		return response{}, &notSentError{err: err}
	}
	if f.tabletsV2 {
		req.body.b = s.appendTabletBlock(req.body.b, c)
	}
	return conn.roundTrip(ctx, &req)
}
