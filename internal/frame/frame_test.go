// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Helpers shared by the tests of the frame layer, and the tests of frame.go.

// readHexBodies reads testdata/name: "## name" begins a body of bytes in hex and quoted text; # begins a comment.
func readHexBodies(t testing.TB, name string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	bodies := map[string][]byte{}
	var current string
	for _, line := range strings.Split(string(text), "\n") {
		title, isTitle := strings.CutPrefix(line, "## ")
		if isTitle {
			line = title
		}
		line, _, _ = strings.Cut(line, "#")
		if isTitle {
			current = strings.TrimSpace(line)
			require.NotContains(t, bodies, current)
			bodies[current] = []byte{}
			continue
		}
		for i, part := range strings.Split(line, `"`) {
			if i%2 == 1 {
				bodies[current] = append(bodies[current], part...)
				continue
			}
			b, err := hex.DecodeString(strings.Join(strings.Fields(part), ""))
			require.NoError(t, err, "%s: %q", current, line)
			bodies[current] = append(bodies[current], b...)
		}
	}
	delete(bodies, "")
	return bodies
}

// requirePrefixesFail checks that parse returns a *ProtocolError for every proper prefix of body, and accepts bytes
// after it.
func requirePrefixesFail(t *testing.T, body []byte, parse func(r *wire.Reader) error) {
	t.Helper()
	for n := range len(body) {
		r := wire.NewReader(body[:n:n])
		var p *cql.ProtocolError
		require.ErrorAs(t, parse(&r), &p, "%d of %d bytes", n, len(body))
	}
	r := wire.NewReader(append(body[:len(body):len(body)], 0xDE, 0xAD))
	require.NoError(t, parse(&r), "trailing bytes")
}

func TestOpcodeString(t *testing.T) {
	for op, want := range map[Opcode]string{
		OpError: "ERROR", OpAuthSuccess: "AUTH_SUCCESS", 0x04: "opcode 0x04", 0x11: "opcode 0x11", 0xFF: "opcode 0xff",
	} {
		require.Equal(t, want, op.String())
	}
}
