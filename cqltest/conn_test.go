// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRequests(t *testing.T) {
	for _, network := range []Network{Ports, Addresses, InMemory} {
		for _, m := range []struct {
			version     byte
			compression string
		}{{4, ""}, {4, "lz4"}, {4, "snappy"}, {5, ""}, {5, "lz4"}} {
			t.Run(fmt.Sprintf("network %d v%d %s", network, m.version, m.compression), func(t *testing.T) {
				c, _ := startFake(t, Config{Nodes: 1, Network: network})
				var options []string
				if m.compression != "" {
					options = []string{"COMPRESSION", m.compression}
				}
				tc := connect(t, c, c.Node(0), m.version, options...)
				big := string(make([]byte, 300_000))
				for _, v := range []string{"one", "", big} {
					put := tc.query("PUT ?, ?", "k", v)
					require.Equal(t, []byte{0, 0, 0, 1}, put.body)
					got := tc.query("GET ?", "k").rows(t)
					require.Equal(t, []string{"v"}, got.names)
					require.Equal(t, [][]byte{[]byte(v)}, got.cells)
				}
				ids := m.version >= 5
				id, resultID := tc.prepare("GET ?", ids)
				got := tc.call(OpExecute, 0, tc.executeBody(id, resultID, paramSkipMetadata, "k")).rows(t)
				require.EqualValues(t, metaNone|metaGlobalTable, got.flags)
				require.Len(t, got.cells[0], len(big))
				require.EqualValues(t, CodeSyntax, tc.query("NONSENSE").errorCode(t))
				require.EqualValues(t, CodeUnprepared, tc.call(OpExecute, 0, tc.executeBody([]byte("no such id 16 by"), resultID, 0)).errorCode(t))
				require.Equal(t, 1, c.Node(0).Requests(OpPrepare))
				require.Equal(t, 9, c.Node(0).Requests(OpQuery, OpExecute))
			})
		}
	}
}
