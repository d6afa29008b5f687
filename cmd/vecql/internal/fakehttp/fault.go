// SPDX-License-Identifier: Apache-2.0

package fakehttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest"
)

// Faults as JSON.

// A duration is a time.Duration whose JSON is text, such as "50ms".
type duration struct{ time.Duration }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) (err error) {
	d.Duration, err = time.ParseDuration(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (d duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// A faultSpec is the body of POST /faults: a cqltest.Fault, whose fields are documented there.
type faultSpec struct {
	Node      *int   `json:"node,omitempty"`      // its number; none means any node
	Op        string `json:"op,omitempty"`        // such as EXECUTE; none means any
	Statement string `json:"statement,omitempty"` // selects executions, and PREPARE only with that op
	// Values are CQL literals by the name of the bind marker. A request matches if it binds all of them.
	Values map[string]string `json:"values,omitempty"`
	Skip   int               `json:"skip,omitempty"`
	Times  int               `json:"times,omitempty"`
	// Observe counts the requests and changes nothing.
	Observe bool `json:"observe,omitempty"`

	Error     *errorSpec `json:"error,omitempty"`
	Drop      bool       `json:"drop,omitempty"`
	Execute   bool       `json:"execute,omitempty"`
	EmptyPage bool       `json:"empty_page,omitempty"`
	Forget    bool       `json:"forget,omitempty"`
	Warnings  []string   `json:"warnings,omitempty"`

	Before duration `json:"before,omitzero"`
	Delay  duration `json:"delay,omitzero"`
	Jitter duration `json:"jitter,omitzero"`

	Close             bool   `json:"close,omitempty"`
	CloseAfter        int    `json:"close_after,omitempty"`
	CloseRequestAfter int    `json:"close_request_after,omitempty"`
	Split             int    `json:"split,omitempty"`
	Twice             bool   `json:"twice,omitempty"`
	Corrupt           string `json:"corrupt,omitempty"`
}

// An errorSpec is a cqltest.Error.
type errorSpec struct {
	Code        errorCode `json:"code"`
	Message     string    `json:"message,omitempty"`
	Received    int       `json:"received,omitempty"`
	Required    int       `json:"required,omitempty"`
	Alive       int       `json:"alive,omitempty"`
	WriteType   string    `json:"write_type,omitempty"`
	DataPresent bool      `json:"data_present,omitempty"`
}

// An errorCode is a number, or a name of codes.
type errorCode int32

// codes are the names of error codes.
var codes = map[string]int32{
	"SERVER_ERROR": cqltest.CodeServer, "PROTOCOL_ERROR": cqltest.CodeProtocol, "BAD_CREDENTIALS": cqltest.CodeCredentials,
	"UNAVAILABLE": cqltest.CodeUnavailable, "OVERLOADED": cqltest.CodeOverloaded,
	"IS_BOOTSTRAPPING": cqltest.CodeBootstrapping, "TRUNCATE_ERROR": cqltest.CodeTruncate,
	"WRITE_TIMEOUT": cqltest.CodeWriteTimeout, "READ_TIMEOUT": cqltest.CodeReadTimeout,
	"READ_FAILURE": cqltest.CodeReadFailure, "WRITE_FAILURE": cqltest.CodeWriteFailure,
	"CAS_WRITE_UNKNOWN": cqltest.CodeCASWriteUnknown, "SYNTAX_ERROR": cqltest.CodeSyntax,
	"UNAUTHORIZED": cqltest.CodeUnauthorized, "INVALID": cqltest.CodeInvalid, "CONFIG_ERROR": cqltest.CodeConfig,
	"UNPREPARED": cqltest.CodeUnprepared, "RATE_LIMIT": cqltest.CodeRateLimit,
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *errorCode) UnmarshalJSON(data []byte) error {
	var number int32
	if json.Unmarshal(data, &number) == nil {
		*c = errorCode(number)
		return nil
	}
	var name string
	if err := json.Unmarshal(data, &name); err != nil {
		return fmt.Errorf("error code %s: want a number or a name", data)
	}
	code, ok := codes[strings.ToUpper(name)]
	if !ok {
		parsed, err := strconv.ParseInt(name, 0, 32)
		if err != nil {
			return fmt.Errorf("error code %q: want a number or one of %s", name,
				strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
		}
		code = int32(parsed)
	}
	*c = errorCode(code)
	return nil
}

// corruptions are the names of corruptions.
var corruptions = map[string]cqltest.Corruption{
	"": cqltest.Intact, "segment_header": cqltest.SegmentHeader, "segment_payload": cqltest.SegmentPayload,
	"segment_block": cqltest.SegmentBlock, "segment_uncompressed": cqltest.SegmentUncompressed,
	"frame_version": cqltest.FrameVersion, "frame_length": cqltest.FrameLength,
	"compressed_body": cqltest.CompressedBody,
}

// requestOps are the opcodes of requests.
var requestOps = []cqltest.Opcode{
	cqltest.OpStartup, cqltest.OpOptions, cqltest.OpQuery, cqltest.OpPrepare, cqltest.OpExecute, cqltest.OpRegister,
	cqltest.OpBatch, cqltest.OpAuthResponse,
}

// fault returns the fault of a specification.
func (h *Handler) fault(s *faultSpec) (f cqltest.Fault, err error) {
	if s.Node != nil {
		if f.Node, err = h.node(*s.Node); err != nil {
			return f, err
		}
	}
	if f.Op, err = parseOp(s.Op); err != nil {
		return f, err
	}
	corrupt, ok := corruptions[s.Corrupt]
	if !ok {
		return f, fmt.Errorf("corrupt %q: want one of%s", s.Corrupt,
			strings.Join(slices.Sorted(maps.Keys(corruptions)), " "))
	}
	f.Statement, f.Skip, f.Times, f.Match = s.Statement, s.Skip, s.Times, s.match()
	f.Drop, f.Execute, f.EmptyPage, f.Forget, f.Warnings = s.Drop, s.Execute, s.EmptyPage, s.Forget, s.Warnings
	f.Before, f.Delay, f.Jitter = s.Before.Duration, s.Delay.Duration, s.Jitter.Duration
	f.Close, f.CloseAfter, f.CloseRequestAfter = s.Close, s.CloseAfter, s.CloseRequestAfter
	f.Split, f.Twice, f.Corrupt = s.Split, s.Twice, corrupt
	if e := s.Error; e != nil {
		f.Error = &cqltest.Error{
			Code: int32(e.Code), Message: e.Message, Received: e.Received, Required: e.Required, Alive: e.Alive,
			WriteType: e.WriteType, DataPresent: e.DataPresent,
		}
	}
	return f, nil
}

func parseOp(name string) (cqltest.Opcode, error) {
	if name == "" {
		return 0, nil
	}
	for _, op := range requestOps {
		if strings.EqualFold(op.String(), name) {
			return op, nil
		}
	}
	return 0, fmt.Errorf("op %q: want one of %v", name, requestOps)
}

// match returns the function that compares the bound values; nil if there are none to compare.
func (s *faultSpec) match() func(cqltest.Request) bool {
	if len(s.Values) == 0 {
		return nil
	}
	return func(r cqltest.Request) bool {
		for name, want := range s.Values {
			if v, ok := r.Value(name); !ok || v.Text() != want {
				return false
			}
		}
		return true
	}
}

// A rule is a cqltest.Rule or a cqltest.ConnRule.
type rule interface {
	Hits() int
	Wait(ctx context.Context, n int) error
	Remove()
}

// A fault is a fault in force. Its JSON is the answer about it.
type fault struct {
	ID   int `json:"id"`
	Hits int `json:"hits"` // set when it is asked for
	Spec any `json:"fault"`
	rule rule
}

// keep stores a fault and returns its id.
func (h *Handler) keep(spec any, r rule) any {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	h.faults[h.last] = &fault{ID: h.last, Spec: spec, rule: r}
	return map[string]int{"id": h.last}
}

func (h *Handler) inject(r *http.Request) (any, error) {
	spec := &faultSpec{}
	if err := decode(r, spec); err != nil {
		return nil, err
	}
	f, err := h.fault(spec)
	if err != nil {
		return nil, err
	}
	if spec.Observe {
		return h.keep(spec, h.cluster.Observe(f)), nil
	}
	return h.keep(spec, h.cluster.Inject(f)), nil
}

// A connSpec is the body of POST /connection-faults: a cqltest.ConnFault.
type connSpec struct {
	Node              *int     `json:"node,omitempty"`
	Skip              int      `json:"skip,omitempty"`
	Times             int      `json:"times,omitempty"`
	Refuse            bool     `json:"refuse,omitempty"`
	Silent            bool     `json:"silent,omitempty"`
	CloseAfterRead    int      `json:"close_after_read,omitempty"`
	CloseAfterWritten int      `json:"close_after_written,omitempty"`
	Split             int      `json:"split,omitempty"`
	Latency           duration `json:"latency,omitzero"`
}

func (h *Handler) injectConn(r *http.Request) (any, error) {
	s := &connSpec{}
	if err := decode(r, s); err != nil {
		return nil, err
	}
	f := cqltest.ConnFault{
		Skip: s.Skip, Times: s.Times, Refuse: s.Refuse, Silent: s.Silent, CloseAfterRead: s.CloseAfterRead,
		CloseAfterWritten: s.CloseAfterWritten, Split: s.Split, Latency: s.Latency.Duration,
	}
	if s.Node != nil {
		var err error
		if f.Node, err = h.node(*s.Node); err != nil {
			return nil, err
		}
	}
	return h.keep(s, h.cluster.InjectConn(f)), nil
}

// snapshot returns a fault with its number of hits.
func (f *fault) snapshot() fault {
	return fault{ID: f.ID, Hits: f.rule.Hits(), Spec: f.Spec}
}

func (h *Handler) allFaults() []fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := []fault{}
	for _, id := range slices.Sorted(maps.Keys(h.faults)) {
		list = append(list, h.faults[id].snapshot())
	}
	return list
}

// pathFault returns the fault that the path names.
func (h *Handler) pathFault(r *http.Request) (*fault, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.faults[id]
	if err != nil || f == nil {
		return nil, fmt.Errorf("fault %q: %w", r.PathValue("id"), errNotFound)
	}
	return f, nil
}

// awaitFault returns a fault. With the parameter hits it waits until the fault has so many.
func (h *Handler) awaitFault(r *http.Request) (any, error) {
	f, err := h.pathFault(r)
	if err != nil {
		return nil, err
	}
	if text := r.FormValue("hits"); text != "" {
		hits, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("hits: %w", err)
		}
		wait := 10 * time.Second
		if text := r.FormValue("wait"); text != "" {
			if wait, err = time.ParseDuration(text); err != nil {
				return nil, fmt.Errorf("wait: %w", err)
			}
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		if err := f.rule.Wait(ctx, hits); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
	}
	return f.snapshot(), nil
}

func (h *Handler) removeFault(r *http.Request) (any, error) {
	f, err := h.pathFault(r)
	if err != nil {
		return nil, err
	}
	f.rule.Remove()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.faults, f.ID)
	return nil, nil
}

func (h *Handler) clearFaults() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cluster.ClearFaults()
	clear(h.faults)
}
