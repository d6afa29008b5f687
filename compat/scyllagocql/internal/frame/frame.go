// SPDX-License-Identifier: Apache-2.0

// Package frame has the headers of frames as errors and observers of the API have them.
package frame

import (
	"fmt"

	api "github.com/vecql/vecql/compat/api"
)

// A ProtoVersion is the version byte of a frame: the version, and the direction in its highest bit.
type ProtoVersion byte

// Request reports whether the frame goes to the server.
func (p ProtoVersion) Request() bool { return p&0x80 == 0 }

// Response reports whether the frame comes from the server.
func (p ProtoVersion) Response() bool { return p&0x80 != 0 }

// Version returns the version without the direction.
func (p ProtoVersion) Version() byte { return byte(p & 0x7F) }

// String returns the version and the direction.
func (p ProtoVersion) String() string { return api.ProtoVersion(p).String() }

// An Op is the opcode of a frame.
type Op byte

// OpError is the opcode of an error.
const OpError Op = 0

// String returns the name of the opcode.
func (f Op) String() string { return api.FrameOp(f).String() }

// A FrameHeader is the header of the frame of an error. vecql does not keep it, so that only Op is set.
type FrameHeader struct {
	Warnings []string
	Stream   int
	Length   int
	Version  ProtoVersion
	Flags    byte
	Op       Op
}

// String returns the fields.
func (f FrameHeader) String() string {
	return fmt.Sprintf("[header version=%s flags=0x%x stream=%d op=%s length=%d]", f.Version, f.Flags, f.Stream, f.Op,
		f.Length)
}

// Header returns f.
func (f FrameHeader) Header() FrameHeader { return f }

// An ErrorFrame is an error that a server sent.
type ErrorFrame struct {
	Message string
	FrameHeader
	Code int
}

// GetCode returns the code.
func (e ErrorFrame) GetCode() int { return e.Code }

// GetMessage returns the text that the server sent.
func (e ErrorFrame) GetMessage() string { return e.Message }

func (e ErrorFrame) Error() string { return e.Message }

// String returns the code and the message.
func (e ErrorFrame) String() string {
	return fmt.Sprintf("[error code=%x message=%q]", e.Code, e.Message)
}
