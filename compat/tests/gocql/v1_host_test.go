// SPDX-License-Identifier: Apache-2.0

//go:build !fork && !v2

package gocql_test

import (
	"net"
	"testing"

	"github.com/gocql/gocql"
)

// TestHostOfAProgram has what the program sets.
func TestHostOfAProgram(t *testing.T) {
	h := (&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, 1))
	if h.ConnectAddress().String() != "10.0.0.1" || h.ConnectAddressAndPort() != "10.0.0.1:0" || h.HostnameAndPort() != "10.0.0.1:0" ||
		!h.IsUp() || h.HostID() != "" || h.Version().String() != "v0.0.0" || h.Peer() != nil || h.String() == "" {
		t.Error(h)
	}
	other := (&gocql.HostInfo{}).SetConnectAddress(net.IPv4(10, 0, 0, 1))
	if !h.Equal(other) || !h.Equal(h) || h.Equal(nil) {
		t.Error("Equal by address")
	}
	h.SetHostID("a")
	other.SetHostID("b")
	if h.Equal(other) || h.HostID() != "a" {
		t.Error("Equal by host id")
	}
	var none *gocql.HostInfo
	if none.IsUp() {
		t.Error("nil is up")
	}
	defer func() {
		if recover() == nil {
			t.Error("ConnectAddress without an address does not panic, as in gocql")
		}
	}()
	new(gocql.HostInfo).ConnectAddress()
}
