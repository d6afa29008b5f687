// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"testing"
)

// FuzzRequests sends arbitrary bytes on a started connection: every answer is complete, and the node continues to
// serve.
func FuzzRequests(f *testing.F) {
	for _, c := range readCaptures(f, driverCaptures) {
		for _, conn := range c.conns {
			var all []byte
			for _, frame := range conn.sent {
				if frame.op != OpStartup && frame.op != OpOptions {
					b := appendFrame(nil, frame.header, frame.body)
					b[0] &^= responseBit
					b[1] &^= flagCompressed
					f.Add(c.version, b)
					all = append(all, b...)
				}
			}
			f.Add(c.version, all)
		}
	}
	f.Add(byte(4), []byte{4, flagCompressed, 0, 1, byte(OpQuery), 0, 0, 0, 5, 0, 0, 0, 9, 1})
	f.Fuzz(func(t *testing.T, version byte, b []byte) {
		version = 4 + version%2
		c, _ := startFake(t, Config{Nodes: 1, Network: InMemory, MaxRequest: 1 << 16})
		defer c.Close()
		tc := connect(t, c, c.Node(0), version)
		if version == 5 {
			b = appendSegments(nil, b, false)
		}
		go func() {
			_, _ = tc.sock.Write(b)
			_ = tc.sock.(halfCloser).CloseWrite()
		}()
		for {
			m, err := tc.tryRead()
			if err != nil {
				break
			}
			if m.op == OpError && len(m.body) < 6 || m.version != version && m.op != OpError {
				t.Fatalf("answer %v %x", m.header, m.body)
			}
		}
		// Another connection still works.
		other := connect(t, c, c.Node(0), version)
		if m := other.query("PUT ?, ?", "k", "v"); m.op != OpResult || !bytes.Equal(m.body, []byte{0, 0, 0, 1}) {
			t.Fatalf("answer %v %x", m.header, m.body)
		}
	})
}
