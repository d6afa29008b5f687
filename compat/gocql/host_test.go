// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"net"
	"testing"

	"github.com/gocql/gocql"
	"github.com/vecql/vecql/cqltest"
)

// TestHostOfASession has the columns of the system tables.
func TestHostOfASession(t *testing.T) {
	c := newCluster(t, cqltest.Config{Version: "4.1.3"})
	s := newSession(t, c)
	h := s.Query("SELECT id FROM items").Iter().Host()
	if h.HostID() == "" || h.DataCenter() != "datacenter1" || h.Rack() != "rack1" || h.ClusterName() != "cqltest" || h.Partitioner() == "" ||
		len(h.Tokens()) != 16 || h.State() != gocql.NodeUp || h.State().String() != "UP" || !h.IsUp() || h.Port() == 0 ||
		h.HostnameAndPort() != h.ConnectAddressAndPort() || h.RPCAddress() == nil {
		t.Error(h)
	}
	if v := h.Version(); v.String() != "v4.1.3" || !v.AtLeast(4, 1, 3) || v.AtLeast(4, 1, 4) || !v.Before(4, 2, 0) || !v.Before(5, 0, 0) || v.Before(3, 11, 9) {
		t.Error(v)
	}
}

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
