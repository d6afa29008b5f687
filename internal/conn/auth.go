// SPDX-License-Identifier: Apache-2.0

package conn

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

// handshake makes a new connection ready for requests.
func (c *Conn) handshake(ctx context.Context) (err error) {
	defer background.Recover(&err) // the socket and the TLS configuration may be code of the user
	if local := c.Sock.LocalAddr(); local != nil {
		c.local = local.String()
	}
	if c.Config.TLS != nil && !(c.Config.DialerTLS && IsTLS(c.Sock)) {
		if err := c.startTLS(ctx); err != nil {
			return tlsError(foreignTLS(err))
		}
	}
	c.setReader(c.Sock)
	if err := c.negotiate(); err != nil {
		return err
	}
	startup := GetBuffer(256)
	defer startup.Release()
	options := map[string]string{"CQL_VERSION": "3.0.0"}
	for k, v := range c.Config.Options {
		options[k] = v
	}
	if c.compress != nil {
		options["COMPRESSION"] = c.compress.Name()
	}
	c.Features.startup(options, c.options)
	c.options = nil // parsed: an idle connection does not keep them
	if startup.B, err = frame.AppendStartup(startup.B[:0], options); err != nil {
		return err
	}
	op, body, err := c.exchange(frame.OpStartup, startup.B)
	if err != nil {
		return err
	}
	defer func() { body.Release() }()
	if c.Config.Version >= frame.V5 { // from here on both sides send segments
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
		r := wire.NewReader(body.B)
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
func (c *Conn) negotiate() error {
	op, body, err := c.exchange(frame.OpOptions, nil)
	if err != nil {
		return err
	}
	defer body.Release()
	if op != frame.OpSupported {
		return &cql.ProtocolError{Message: fmt.Sprintf("OPTIONS answered with %v", op)}
	}
	r := wire.NewReader(body.B)
	if c.options, err = frame.ParseSupported(&r); err != nil {
		return err
	}
	c.Features = parseFeatures(c.options, c.Config.Version, c.Config.TabletsV2)
	if c.Config.NoTablets {
		c.Features.tabletsV1, c.Features.TabletsV2 = false, false
	}
	want := c.Config.Compressor
	switch {
	case want == nil:
	// v5 supports only lz4
	case slices.Contains(c.options["COMPRESSION"], want.Name()) && (c.Config.Version < frame.V5 || want.Name() == "lz4"):
		c.compress = want
	case c.Config.Logger != nil:
		c.Config.Logger.Warn("no compression: the server or the protocol version does not support it", "node", c.address,
			"compression", want.Name(), "server", c.options["COMPRESSION"], "version", c.Config.Version)
	}
	return nil
}

// exchange sends one frame and reads the response, whose body belongs to the caller. It returns an ERROR as an error.
func (c *Conn) exchange(op frame.Opcode, body []byte) (frame.Opcode, *Buffer, error) {
	out := make([]byte, wire.HeaderSize, wire.HeaderSize+len(body))
	wire.PutHeader(out, wire.Header{Version: c.Config.Version, Flags: c.betaFlag(), Opcode: byte(op), Length: len(body)})
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
	if _, err := c.Sock.Write(out); err != nil {
		return 0, nil, errtext.Errorf("%v: write: %w", op, err)
	}
	h, answer, err := c.readFrame()
	if err != nil && op == frame.OpOptions {
		err = c.foreignAnswer(err)
	}
	if err != nil {
		return 0, nil, errtext.Errorf("%v: read: %w", op, err)
	}
	_, r, err := frame.ReadEnvelope(h.Flags, answer.B)
	if err == nil && frame.Opcode(h.Opcode) == frame.OpError {
		err = frame.ParseError(&r, h.Version, 0)
		otherVersion := h.Version != c.Config.Version || strings.Contains(err.Error(), "protocol version")
		if otherVersion && errors.Is(err, cql.CodeProtocol) {
			err = &VersionError{Supported: h.Version, Err: err} // the frame has a version that the server supports
		}
	}
	if err == nil && h.Version != c.Config.Version {
		err = errtext.Errorf("%v in a frame of v%d", frame.Opcode(h.Opcode), h.Version)
		err = &VersionError{Supported: h.Version, Err: err}
	}
	if err == nil && h.Stream != 0 {
		err = &cql.ProtocolError{Message: fmt.Sprintf("%v answered on stream %d", op, h.Stream)}
	}
	if err != nil {
		answer.Release()
		return 0, nil, err
	}
	return frame.Opcode(h.Opcode), answer, nil
}

// maxChallenges bounds the rounds of a SASL exchange, so that an endless one cannot block a connection attempt.
const maxChallenges = 16

// authenticate answers challenges until the server accepts. class is the class name of the server's authenticator.
func (c *Conn) authenticate(class string) error {
	auth, err := c.Config.authenticator()
	if err != nil {
		return &LoginError{errtext.Errorf("authenticate: ClusterConfig.AuthProvider: %w", err)}
	}
	if auth == nil {
		return &LoginError{errtext.Errorf("authenticate: the server requires credentials (%s), but ClusterConfig.Authenticator is not set", class)}
	}
	request := []byte(class)
	for range maxChallenges {
		if auth == nil {
			return &cql.ProtocolError{Message: "authenticate: unexpected AUTH_CHALLENGE: the Authenticator expects no further one"}
		}
		resp, next, err := challenge(auth, request)
		if err != nil {
			return &LoginError{errtext.Errorf("authenticate: %w", err)}
		}
		b, err := frame.AppendAuthResponse(nil, resp)
		if err != nil {
			return err
		}
		op, body, err := c.exchange(frame.OpAuthResponse, b)
		if err != nil {
			if err = errtext.Errorf("authenticate: %w", err); errors.Is(err, cql.CodeCredentials) {
				err = &LoginError{err}
			}
			return err
		}
		r := wire.NewReader(body.B)
		token, err := frame.ParseAuthToken(&r)
		body.Release()
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

// LoginError means that authentication failed: the server refused the credentials, or there are none. Unlike other
// errors it persists until a person acts.
type LoginError struct{ Err error }

func (e *LoginError) Error() string { return e.Err.Error() }
func (e *LoginError) Unwrap() error { return e.Err }

// authenticator returns the Authenticator of one connection; nil means none. A panic in the user's code is an error.
func (cfg *Config) authenticator() (auth cql.Authenticator, err error) {
	if cfg.AuthFor == nil {
		return cfg.Auth, nil
	}
	defer background.Recover(&err)
	if auth, err = cfg.AuthFor(); err == nil && auth == nil {
		err = errors.New("neither an Authenticator nor an error was returned")
	}
	return auth, err
}

// challenge and success call the user's code and return a panic in it as an error of this connection.
func challenge(auth cql.Authenticator, req []byte) (resp []byte, next cql.Authenticator, err error) {
	defer background.Recover(&err)
	return auth.Challenge(req)
}

func success(auth cql.Authenticator, data []byte) (err error) {
	defer background.Recover(&err)
	return auth.Success(data)
}
