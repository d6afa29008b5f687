// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/wire"
)

// This file opens a connection for requests: TLS, OPTIONS, STARTUP and SASL (native_protocol_v5.spec, section 4.1 and 2.3.1). It runs on
// the dialling goroutine, before the reader starts.

// Authenticator answers a server's SASL challenges. One value may serve several connections at once.
type Authenticator interface {
	// Challenge returns the response to req, which at first is the class name of the server's authenticator, and the Authenticator for
	// what comes next, nil when no further challenge is expected.
	Challenge(req []byte) (resp []byte, auth Authenticator, err error)
	// Success receives the data that comes with the server's consent. It is called on the Authenticator that Challenge returned last, or
	// on the one it was called on if that was nil.
	Success(data []byte) error
}

// passwordAuthenticators are the server classes that take SASL PLAIN.
var passwordAuthenticators = []string{
	"org.apache.cassandra.auth.PasswordAuthenticator",
	"org.apache.cassandra.auth.MutualTlsWithPasswordFallbackAuthenticator",
	"com.scylladb.auth.SaslauthdAuthenticator",
	"com.scylladb.auth.TransitionalAuthenticator",
	"com.datastax.bdp.cassandra.auth.DseAuthenticator",
	"com.datastax.bdp.cassandra.auth.PasswordAuthenticator",
	"io.aiven.cassandra.auth.AivenAuthenticator",
	"com.ericsson.bss.cassandra.ecaudit.auth.AuditAuthenticator",
	"com.amazon.helenus.auth.HelenusAuthenticator",
	"com.instaclustr.cassandra.auth.SharedSecretAuthenticator",
	"com.instaclustr.cassandra.auth.InstaclustrPasswordAuthenticator",
}

// PasswordAuthenticator is SASL PLAIN: user name and password.
type PasswordAuthenticator struct {
	Username string
	Password string
	// AllowedAuthenticators are the server classes that the password is shown to. Default: those known to take it.
	AllowedAuthenticators []string
}

// Challenge implements Authenticator.
func (p PasswordAuthenticator) Challenge(req []byte) ([]byte, Authenticator, error) {
	allowed := p.AllowedAuthenticators
	if len(allowed) == 0 {
		allowed = passwordAuthenticators
	}
	if !slices.Contains(allowed, string(req)) {
		return nil, nil, fmt.Errorf("the server's authenticator %q is not one that the password may be shown to", req)
	}
	return []byte("\x00" + p.Username + "\x00" + p.Password), nil, nil
}

// Success implements Authenticator.
func (p PasswordAuthenticator) Success([]byte) error { return nil }

// handshake takes the connection from the socket to readiness.
func (c *conn) handshake(ctx context.Context) (err error) {
	defer recovered(&err) // TLS configurations hold the user's functions
	if c.cfg.tls != nil {
		if err := c.startTLS(ctx); err != nil {
			return fmt.Errorf("tls: %w", err)
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
	if startup.b, err = appendStartup(startup.b[:0], options); err != nil {
		return err
	}
	op, body, err := c.exchange(opStartup, startup.b)
	if err != nil {
		return err
	}
	defer func() { body.release() }()
	if c.cfg.version >= protoV5 { // from here on both sides send segments
		var decompress func(dst, src []byte, n int) ([]byte, error)
		if c.compress != nil {
			decompress = c.decompressSegment
		}
		c.frames = wire.NewSegmentReader(c.in, decompress)
	}
	switch op {
	case opReady:
		return nil
	case opAuthenticate:
		r := wire.NewReader(body.b)
		class, err := parseAuthenticate(&r)
		if err != nil {
			return err
		}
		return c.authenticate(class)
	default:
		return &ProtocolError{Message: fmt.Sprintf("STARTUP answered with %v", op)}
	}
}

// startTLS wraps the socket. The peer is verified, unless the user's configuration says otherwise.
func (c *conn) startTLS(ctx context.Context) error {
	cfg := c.cfg.tls
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(c.address)
		if err != nil {
			return err
		}
		cfg = cfg.Clone()
		cfg.ServerName = host
	}
	t := tls.Client(c.sock, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		return err
	}
	c.sock, c.resumable = t, false
	return nil
}

// negotiate asks the server for what it supports, and settles the compression.
func (c *conn) negotiate() error {
	op, body, err := c.exchange(opOptions, nil)
	if err != nil {
		return err
	}
	defer body.release()
	if op != opSupported {
		return &ProtocolError{Message: fmt.Sprintf("OPTIONS answered with %v", op)}
	}
	r := wire.NewReader(body.b)
	if c.options, err = parseSupported(&r); err != nil {
		return err
	}
	c.features = parseFeatures(c.options, c.cfg.version, c.cfg.tabletsV2)
	want := c.cfg.compressor
	switch {
	case want == nil:
	case slices.Contains(c.options["COMPRESSION"], want.Name()) && (c.cfg.version < protoV5 || want.Name() == "lz4"): // v5 has nothing else
		c.compress = want
	case c.cfg.logger != nil:
		c.cfg.logger.Warn("no compression: the server or the protocol version does not have it", "node", c.address,
			"compression", want.Name(), "server", c.options["COMPRESSION"], "version", c.cfg.version)
	}
	return nil
}

// exchange sends one frame and reads the next one, whose body is the receiver's. An ERROR is returned as an error.
func (c *conn) exchange(op opcode, body []byte) (opcode, *buffer, error) {
	frame := make([]byte, wire.HeaderSize, wire.HeaderSize+len(body))
	wire.PutHeader(frame, wire.Header{Version: c.cfg.version, Opcode: byte(op), Length: len(body)})
	frame = append(frame, body...)
	if _, segmented := c.frames.(*wire.SegmentReader); segmented {
		var compress func(dst, src []byte) ([]byte, error)
		if c.compress != nil {
			compress = c.compressSegment
		}
		var err error
		if frame, err = wire.AppendSegments(nil, frame, compress); err != nil {
			return 0, nil, err
		}
	}
	if _, err := c.sock.Write(frame); err != nil {
		return 0, nil, fmt.Errorf("%v: write: %w", op, err)
	}
	h, answer, err := c.readFrame()
	if err != nil {
		return 0, nil, fmt.Errorf("%v: read: %w", op, err)
	}
	_, r, err := parseEnvelope(h, answer.b)
	if err == nil && opcode(h.Opcode) == opError {
		err = parseError(&r, h.Version, 0)
		if errors.Is(err, CodeProtocol) && (h.Version != c.cfg.version || strings.Contains(err.Error(), "protocol version")) {
			err = &versionError{supported: h.Version, err: err} // it comes in a frame of a version that the server does speak
		}
	}
	if err == nil && h.Version != c.cfg.version {
		err = &versionError{supported: h.Version, err: fmt.Errorf("%v in a frame of v%d", opcode(h.Opcode), h.Version)}
	}
	if err == nil && h.Stream != 0 {
		err = &ProtocolError{Message: fmt.Sprintf("%v answered on stream %d", op, h.Stream)}
	}
	if err != nil {
		answer.release()
		return 0, nil, err
	}
	return opcode(h.Opcode), answer, nil
}

// maxChallenges bounds the rounds of a SASL exchange: a server that never ends it must not hold a connection attempt for ever.
const maxChallenges = 16

// authenticate answers challenges until the server agrees. class is the first one.
func (c *conn) authenticate(class string) error {
	auth := c.cfg.auth
	if auth == nil {
		return &loginError{fmt.Errorf("authenticate: the server wants credentials (%s), and ClusterConfig.Authenticator is not set", class)}
	}
	request := []byte(class)
	for range maxChallenges {
		if auth == nil {
			return &ProtocolError{Message: "authenticate: the server asks for more than the Authenticator has"}
		}
		resp, next, err := challenge(auth, request)
		if err != nil {
			return &loginError{fmt.Errorf("authenticate: %w", err)}
		}
		b, err := appendAuthResponse(nil, resp)
		if err != nil {
			return err
		}
		op, body, err := c.exchange(opAuthResponse, b)
		if err != nil {
			if err = fmt.Errorf("authenticate: %w", err); errors.Is(err, CodeCredentials) {
				err = &loginError{err}
			}
			return err
		}
		r := wire.NewReader(body.b)
		token, err := parseAuthToken(&r)
		body.release()
		switch {
		case err != nil:
			return err
		case op == opAuthSuccess:
			if next != nil {
				auth = next
			}
			if err := success(auth, token); err != nil {
				return fmt.Errorf("authenticate: %w", err)
			}
			return nil
		case op != opAuthChallenge:
			return &ProtocolError{Message: fmt.Sprintf("AUTH_RESPONSE answered with %v", op)}
		}
		request, auth = token, next
	}
	return &ProtocolError{Message: "authenticate: the server does not come to an end"}
}

// loginError is the failure to prove who we are: by the server's verdict, or because there is nothing to prove it with. Unlike others it
// does not go away by itself.
type loginError struct{ err error }

func (e *loginError) Error() string { return e.err.Error() }
func (e *loginError) Unwrap() error { return e.err }

// challenge and success call the user's code: a panic in it is an error of this connection only.
func challenge(auth Authenticator, req []byte) (resp []byte, next Authenticator, err error) {
	defer recovered(&err)
	return auth.Challenge(req)
}

func success(auth Authenticator, data []byte) (err error) {
	defer recovered(&err)
	return auth.Success(data)
}
