// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// The handshake of a connection: TLS, OPTIONS, STARTUP and SASL (native_protocol_v5.spec, section 4.1 and 2.3.1). It
// runs on the dialing goroutine, before the reader starts.

// An Authenticator answers the SASL challenges of a server. Several connections may use one value at once.
type Authenticator interface {
	// Challenge returns the response to req and the Authenticator for the next challenge, nil if no further challenge
	// is expected. The first req is the class name of the server's authenticator.
	Challenge(req []byte) (resp []byte, auth Authenticator, err error)
	// Success receives the data of AUTH_SUCCESS. It is called on the Authenticator that Challenge returned last, or on
	// the receiver of Challenge if that was nil.
	Success(data []byte) error
}

// handshake makes a new connection ready for requests.
func (c *conn) handshake(ctx context.Context) (err error) {
	defer background.Recover(&err) // the socket and the TLS configuration may be code of the user
	if local := c.sock.LocalAddr(); local != nil {
		c.local = local.String()
	}
	if c.cfg.tls != nil && !(c.cfg.dialerTLS && isTLS(c.sock)) {
		if err := c.startTLS(ctx); err != nil {
			return tlsError(foreignTLS(err))
		}
	}
	c.setReader(c.sock)
	if err := c.negotiate(); err != nil {
		return err
	}
	startup := getBuffer(256)
	defer startup.release()
	options := map[string]string{"CQL_VERSION": "3.0.0"}
	for k, v := range c.cfg.options {
		options[k] = v
	}
	if c.compress != nil {
		options["COMPRESSION"] = c.compress.Name()
	}
	c.features.startup(options, c.options)
	c.options = nil // parsed: an idle connection does not keep them
	if startup.b, err = frame.AppendStartup(startup.b[:0], options); err != nil {
		return err
	}
	op, body, err := c.exchange(frame.OpStartup, startup.b)
	if err != nil {
		return err
	}
	defer func() { body.release() }()
	if c.cfg.version >= frame.V5 { // from here on both sides send segments
		var decompress func(dst, src []byte, n int) ([]byte, error)
		if c.compress != nil {
			decompress = c.decompressSegment
		}
		c.frames = wire.NewSegmentReader(c.in, decompress)
	}
	switch op {
	case frame.OpReady:
		return nil
	case frame.OpAuthenticate:
		r := wire.NewReader(body.b)
		class, err := frame.ParseAuthenticate(&r)
		if err != nil {
			return err
		}
		return c.authenticate(class)
	default:
		return &cql.ProtocolError{Message: fmt.Sprintf("STARTUP answered with %v", op)}
	}
}

// negotiate reads SUPPORTED and selects the compression.
func (c *conn) negotiate() error {
	op, body, err := c.exchange(frame.OpOptions, nil)
	if err != nil {
		return err
	}
	defer body.release()
	if op != frame.OpSupported {
		return &cql.ProtocolError{Message: fmt.Sprintf("OPTIONS answered with %v", op)}
	}
	r := wire.NewReader(body.b)
	if c.options, err = frame.ParseSupported(&r); err != nil {
		return err
	}
	c.features = parseFeatures(c.options, c.cfg.version, c.cfg.tabletsV2)
	if c.cfg.noTablets {
		c.features.tabletsV1, c.features.tabletsV2 = false, false
	}
	want := c.cfg.compressor
	switch {
	case want == nil:
	// v5 supports only lz4
	case slices.Contains(c.options["COMPRESSION"], want.Name()) && (c.cfg.version < frame.V5 || want.Name() == "lz4"):
		c.compress = want
	case c.cfg.logger != nil:
		c.cfg.logger.Warn("no compression: the server or the protocol version does not support it", "node", c.address,
			"compression", want.Name(), "server", c.options["COMPRESSION"], "version", c.cfg.version)
	}
	return nil
}

// exchange sends one frame and reads the response, whose body belongs to the caller. It returns an ERROR as an error.
func (c *conn) exchange(op frame.Opcode, body []byte) (frame.Opcode, *buffer, error) {
	out := make([]byte, wire.HeaderSize, wire.HeaderSize+len(body))
	wire.PutHeader(out, wire.Header{Version: c.cfg.version, Opcode: byte(op), Length: len(body)})
	out = append(out, body...)
	if _, segmented := c.frames.(*wire.SegmentReader); segmented {
		var compress func(dst, src []byte) ([]byte, error)
		if c.compress != nil {
			compress = c.compressSegment
		}
		var err error
		if out, err = wire.AppendSegments(nil, out, compress); err != nil {
			return 0, nil, err
		}
	}
	if _, err := c.sock.Write(out); err != nil {
		return 0, nil, errtext.Errorf("%v: write: %w", op, err)
	}
	h, answer, err := c.readFrame()
	if err != nil && op == frame.OpOptions {
		err = c.foreignAnswer(err)
	}
	if err != nil {
		return 0, nil, errtext.Errorf("%v: read: %w", op, err)
	}
	_, r, err := frame.ReadEnvelope(h.Flags, answer.b)
	if err == nil && frame.Opcode(h.Opcode) == frame.OpError {
		err = frame.ParseError(&r, h.Version, 0)
		otherVersion := h.Version != c.cfg.version || strings.Contains(err.Error(), "protocol version")
		if otherVersion && errors.Is(err, cql.CodeProtocol) {
			err = &versionError{supported: h.Version, err: err} // the frame has a version that the server supports
		}
	}
	if err == nil && h.Version != c.cfg.version {
		err = errtext.Errorf("%v in a frame of v%d", frame.Opcode(h.Opcode), h.Version)
		err = &versionError{supported: h.Version, err: err}
	}
	if err == nil && h.Stream != 0 {
		err = &cql.ProtocolError{Message: fmt.Sprintf("%v answered on stream %d", op, h.Stream)}
	}
	if err != nil {
		answer.release()
		return 0, nil, err
	}
	return frame.Opcode(h.Opcode), answer, nil
}

// maxChallenges bounds the rounds of a SASL exchange, so that an endless one cannot block a connection attempt.
const maxChallenges = 16

// authenticate answers challenges until the server accepts. class is the class name of the server's authenticator.
func (c *conn) authenticate(class string) error {
	auth, err := c.cfg.authenticator()
	if err != nil {
		return &loginError{errtext.Errorf("authenticate: ClusterConfig.AuthProvider: %w", err)}
	}
	if auth == nil {
		return &loginError{errtext.Errorf("authenticate: the server requires credentials (%s), but ClusterConfig.Authenticator is not set", class)}
	}
	request := []byte(class)
	for range maxChallenges {
		if auth == nil {
			return &cql.ProtocolError{Message: "authenticate: unexpected AUTH_CHALLENGE: the Authenticator expects no further one"}
		}
		resp, next, err := challenge(auth, request)
		if err != nil {
			return &loginError{errtext.Errorf("authenticate: %w", err)}
		}
		b, err := frame.AppendAuthResponse(nil, resp)
		if err != nil {
			return err
		}
		op, body, err := c.exchange(frame.OpAuthResponse, b)
		if err != nil {
			if err = errtext.Errorf("authenticate: %w", err); errors.Is(err, cql.CodeCredentials) {
				err = &loginError{err}
			}
			return err
		}
		r := wire.NewReader(body.b)
		token, err := frame.ParseAuthToken(&r)
		body.release()
		switch {
		case err != nil:
			return err
		case op == frame.OpAuthSuccess:
			if next != nil {
				auth = next
			}
			if err := success(auth, token); err != nil {
				return errtext.Errorf("authenticate: %w", err)
			}
			return nil
		case op != frame.OpAuthChallenge:
			return &cql.ProtocolError{Message: fmt.Sprintf("AUTH_RESPONSE answered with %v", op)}
		}
		request, auth = token, next
	}
	return &cql.ProtocolError{Message: fmt.Sprintf("authenticate: more than %d challenges", maxChallenges)}
}

// loginError means that authentication failed: the server refused the credentials, or there are none. Unlike other
// errors it persists until a person acts.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// authenticator returns the Authenticator of one connection; nil means none. A panic in the user's code is an error.
func (cfg *connConfig) authenticator() (auth Authenticator, err error) {
	if cfg.authFor == nil {
		return cfg.auth, nil
	}
	defer background.Recover(&err)
	if auth, err = cfg.authFor(); err == nil && auth == nil {
		err = errors.New("neither an Authenticator nor an error was returned")
	}
	return auth, err
}

// challenge and success call the user's code and return a panic in it as an error of this connection.
func challenge(auth Authenticator, req []byte) (resp []byte, next Authenticator, err error) {
	defer background.Recover(&err)
	return auth.Challenge(req)
}

func success(auth Authenticator, data []byte) (err error) {
	defer background.Recover(&err)
	return auth.Success(data)
}
