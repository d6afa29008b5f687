// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Replays of captures: a node receives the requests of a driver to a real Cassandra, and the answers are compared.

// replay is one capture replayed to a node. It translates values that each server chooses: paging states, ids of
// metadata and traces.
type replay struct {
	t       *testing.T
	version byte
	swap    [][2][]byte // Cassandra's value -> node's value, with lengths
	text    map[string]string
}

func (p *replay) translate(body []byte) []byte {
	for _, s := range p.swap {
		body = bytes.ReplaceAll(body, s[0], s[1])
	}
	return body
}

// note records that the node's value got corresponds to Cassandra's value want.
func (p *replay) note(want, got []byte) {
	if len(want) > 2 && !bytes.Equal(want, got) {
		p.swap = append(p.swap, [2][]byte{want, got})
	}
}

// compare returns the difference between the answers of Cassandra and the node, "" for none, and records corresponding
// values.
func (p *replay) compare(text string, want capturedFrame, got message) string {
	if want.op != got.op || want.flags&^flagCompressed != got.flags&^flagCompressed {
		return fmt.Sprintf("got %v flags %x %q, want %v flags %x %q", got.op, got.flags, got.body, want.op, want.flags, want.body)
	}
	a, b := reader{b: want.body}, reader{b: got.body}
	if want.flags&flagTracing != 0 {
		a.take(16, "")
		b.take(16, "")
	}
	if want.flags&flagWarning != 0 {
		if x, y := a.stringList(), b.stringList(); fmt.Sprint(x) != fmt.Sprint(y) {
			return fmt.Sprintf("got warnings %q, want %q", y, x)
		}
	}
	switch want.op {
	case OpError:
		if x, y := a.int(), b.int(); x != y {
			return fmt.Sprintf("got error %x %q, want %x %q", y, b.string(), x, a.string())
		}
		if x, y := a.string(), b.string(); x != y {
			p.t.Logf("%s: the error says %q, Cassandra's %q", text, y, x)
		}
	case OpResult:
		x, y := a.int(), b.int()
		if x != y {
			return fmt.Sprintf("got result of kind %d, want %d", y, x)
		}
		if x == 4 { // PREPARED
			if x, y := a.shortBytes(), b.shortBytes(); !bytes.Equal(x, y) {
				return fmt.Sprintf("got id %x, want %x", y, x)
			}
			if p.version >= 5 {
				p.note(appendShortBytes(nil, a.shortBytes()), appendShortBytes(nil, b.shortBytes()))
			}
		}
		if x == 2 { // rows
			flags, other := a.int(), b.int()
			if flags != other {
				return fmt.Sprintf("got metadata flags %x, want %x", other, flags)
			}
			if x, y := a.int(), b.int(); x != y {
				return fmt.Sprintf("got %d columns, want %d", y, x)
			}
			if flags&metaMorePages != 0 {
				p.note(appendBytes(nil, a.bytes()), appendBytes(nil, b.bytes()))
			}
			if flags&metaChanged != 0 {
				p.note(appendShortBytes(nil, a.shortBytes()), appendShortBytes(nil, b.shortBytes()))
			}
			if strings.Contains(text, " system") {
				return "" // the rows of system tables differ from node to node
			}
		}
	}
	if x, y := hex.EncodeToString(a.b), hex.EncodeToString(b.b); x != y {
		return fmt.Sprintf("got  %s\nwant %s", y, x)
	}
	return ""
}

// TestReplay compares the answers of a node with Cassandra 5.0.9's answers to the same bytes.
func TestReplay(t *testing.T) {
	captures := readCaptures(t, driverCaptures)
	maps.Copy(captures, readCaptures(t, nodeCaptures))
	for name, capture := range captures {
		t.Run(name, func(t *testing.T) {
			c := New(t, Config{Nodes: 1, Network: InMemory})
			p := &replay{t: t, version: capture.version, text: map[string]string{}}
			compared := 0
			var clients []*testClient
			for _, conn := range capture.conns {
				tc := dial(t, c, c.Hosts()[0], capture.version)
				clients = append(clients, tc)
				i := 0
				for _, want := range conn.received {
					if want.stream == eventStream {
						continue
					}
					f := conn.sent[i]
					i++
					r := reader{b: f.body}
					text := ""
					switch f.op {
					case OpQuery, OpPrepare:
						text = r.longString()
					case OpExecute:
						text = p.text[string(r.shortBytes())]
					case OpStartup:
						options := []string{"DRIVER_NAME", "replay"}
						if capture.compression != "" {
							options = append(options, "COMPRESSION", capture.compression)
						}
						tc.startup(OpReady, options...)
						continue
					case OpOptions, OpRegister:
						m := tc.call(f.op, 0, f.body)
						if f.op == OpOptions {
							require.Contains(t, string(m.body), "COMPRESSION")
						}
						continue
					}
					stream := tc.send(f.op, f.flags&^flagCompressed, p.translate(f.body))
					got := tc.read()
					require.Equal(t, stream, got.stream)
					if f.op == OpPrepare && got.op == OpResult {
						ids := reader{b: got.body[4:]}
						p.text[string(ids.shortBytes())] = text
					}
					if difference := p.compare(text, want, got); difference != "" {
						t.Errorf("%v %s\n%s", f.op, text, difference)
					}
					compared++
				}
			}
			require.Greater(t, compared, 30)
			for i, conn := range capture.conns { // events of the changes that the other connection made
				for _, want := range conn.received {
					if want.stream == eventStream {
						require.Equal(t, fmt.Sprintf("%q", want.body), fmt.Sprintf("%q", clients[i].read().body))
						compared++
					}
				}
			}
		})
	}
}
