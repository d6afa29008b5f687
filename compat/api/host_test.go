// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat/compattest"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// host is a HostInfo of a module.
type host struct{ Host }

func (h *host) ConnectAddress() net.IP { return DataOf(&h.Host).Connect }
func (h *host) ConnectAddressAndPort() string {
	return JoinHostPort(h.ConnectAddress().String(), h.Port())
}
func (h *host) HostID() string                { return HostID(DataOf(&h.Host)) }
func (h *host) IsUp() bool                    { return h.State() == NodeUp }
func (h *host) Equal(other *host) bool        { return SameNode(h, other, (*host).ConnectAddress) }
func hostsOfModule() *Hosts[host]             { return NewHosts(func(h *host) *Host { return &h.Host }) }
func newHost(record HostRecord) *host         { return &host{NewHost(&record)} }
func openSession(t *testing.T) *vecql.Session { return openWith(t, nil) }

// openWith returns a session on a new cluster with the schema of package compattest.
func openWith(t *testing.T, change func(*vecql.ClusterConfig)) *vecql.Session {
	t.Helper()
	cfg := &vecql.ClusterConfig{Hosts: compattest.NewCluster(t, cqltest.Config{}).Hosts()}
	cfg.Keyspace = "shop"
	if change != nil {
		change(cfg)
	}
	return compattest.Open(t, func() (*vecql.Session, error) { return vecql.NewSession(t.Context(), *cfg) })
}

func TestHostOfAProgramHasItsProperties(t *testing.T) {
	ip := func(last byte) net.IP { return net.IPv4(10, 0, 0, last) }
	h := newHost(HostRecord{
		ID: "id", DC: "dc", RackName: "rack", Release: "4.1.3", Class: "Murmur3Partitioner", Cluster: "cluster", DSE: "6.8", Load: "Search",
		Connect: ip(1), PeerAddr: ip(2), Broadcast: ip(3), Listen: ip(4), RPC: ip(5), Preferred: ip(6), PortNumber: 9042, HasGraph: true,
		TokenList: []string{"-1", "2"},
	})
	for _, test := range []struct{ got, want any }{
		{h.HostID(), "id"},
		{h.DataCenter(), "dc"},
		{h.Rack(), "rack"},
		{DataOf(&h.Host).Release, "4.1.3"},
		{h.Partitioner(), "Murmur3Partitioner"},
		{h.ClusterName(), "cluster"},
		{h.DSEVersion(), "6.8"},
		{h.WorkLoad(), "Search"},
		{h.ConnectAddress(), ip(1)},
		{h.Peer(), ip(2)},
		{h.BroadcastAddress(), ip(3)},
		{h.ListenAddress(), ip(4)},
		{h.RPCAddress(), ip(5)},
		{h.PreferredIP(), ip(6)},
		{h.Port(), 9042},
		{h.Graph(), true},
		{h.Tokens(), []string{"-1", "2"}},
		{h.State(), NodeUp},
	} {
		require.Equal(t, test.want, test.got)
	}
	require.Nil(t, NodeOf(&h.Host), "no session has the node")
	SetHostData(&h.Host, &HostRecord{RackName: "other"})
	require.Equal(t, "other", h.Rack())

	var none host
	require.Empty(t, none.HostID())
	require.True(t, none.ConnectAddress().IsUnspecified())
	require.Equal(t, NodeUp, none.State())
}

func TestStateOfAHost(t *testing.T) {
	s := openSession(t)
	hosts := hostsOfModule()
	h := hosts.Of(s.GetHosts()[0])
	require.Equal(t, NodeDown, h.State(), "the session has not connected yet")
	hosts.Attach(s)
	require.Equal(t, NodeUp, h.State())
	s.Close()
	require.Equal(t, NodeDown, h.State())
	require.Equal(t, "UP", NodeUp.String())
	require.Equal(t, "DOWN", NodeDown.String())
	require.Equal(t, "UNKNOWN_2", NodeState(2).String())
}

func TestHostIDOfZeroIsUnknown(t *testing.T) {
	require.Empty(t, newHost(HostRecord{ID: "00000000-0000-0000-0000-000000000000"}).HostID())
	require.Equal(t, "00000000-0000-0000-0000-000000000001", newHost(HostRecord{ID: "00000000-0000-0000-0000-000000000001"}).HostID())
}

// TestNodeHasOneHostInfoInASession, with the properties that the system tables had last.
func TestNodeHasOneHostInfoInASession(t *testing.T) {
	nodes := openSession(t).GetHosts()
	hosts := hostsOfModule()
	all := hosts.All(nodes)
	require.Len(t, all, 3)
	for i, node := range nodes {
		require.Equal(t, node.ID.String(), all[i].HostID())
		require.True(t, hosts.Of(node) == all[i])
		require.True(t, hosts.Node(all[i]) == node)
	}
	require.False(t, all[0] == all[1])

	first := hosts.byID[nodes[0].ID]
	SetHostData(&first.Host, &HostRecord{RackName: "as read before"})
	require.True(t, hosts.Of(nodes[0]) == first)
	require.Equal(t, nodes[0].Rack, first.Rack())

	require.Nil(t, hosts.Of(nil))
	require.Nil(t, hosts.Node(nil))
	require.Nil(t, hosts.Node(&host{}), "a node of the program")
	unknown := new(cql.Host)
	require.NotSame(t, hosts.Of(unknown), hosts.Of(unknown), "a node without an id")
	require.True(t, hosts.Node(hosts.Of(unknown)) == unknown)
}

func TestSameNode(t *testing.T) {
	at := func(id string, last byte, port int) *host {
		return newHost(HostRecord{ID: id, Connect: net.IPv4(10, 0, 0, last), PortNumber: port})
	}
	a := at("a", 1, 1)
	for _, test := range []struct {
		a, b *host
		want bool
	}{
		{a, a, true},
		{a, nil, false},
		{nil, a, false},
		{nil, nil, true},
		{a, at("a", 2, 2), true},
		{a, at("b", 1, 1), false},
		{a, at("", 1, 1), true},
		{at("", 1, 1), a, true},
		{a, at("", 2, 1), false},
		{a, at("", 1, 2), false},
	} {
		require.Equal(t, test.want, SameNode(test.a, test.b, (*host).ConnectAddress), "%+v", test)
	}
}

func TestReleasesAreComparedFromTheLeft(t *testing.T) {
	for _, test := range []struct {
		release [3]int
		before  bool
	}{
		{[3]int{3, 9, 9}, true},
		{[3]int{4, 0, 9}, true},
		{[3]int{4, 1, 2}, true},
		{[3]int{4, 1, 3}, false},
		{[3]int{4, 1, 4}, false},
		{[3]int{4, 2, 0}, false},
		{[3]int{5, 0, 0}, false},
	} {
		r := test.release
		require.Equal(t, test.before, Before(r[0], r[1], r[2], 4, 1, 3), "%v", r)
	}
}

// release is a release in a module's type.
type release struct{ text string }

func (r *release) Set(text string) error {
	r.text = text
	if text == "bad" {
		return errors.New("bad")
	}
	return nil
}

func TestReleaseOfAHost(t *testing.T) {
	require.Equal(t, release{"4.1.3"}, ReleaseOf[release](&newHost(HostRecord{Release: "4.1.3"}).Host))
	require.Equal(t, release{}, ReleaseOf[release](&newHost(HostRecord{Release: "bad"}).Host))
}

func TestHostFilters(t *testing.T) {
	nodes := map[*cql.Host]string{{}: "near"}
	near := HostFilterFunc[string](func(h string) bool { return h == "near" })
	require.Nil(t, AdaptHostFilter[string](nil, nil))
	adapted := AdaptHostFilter[string](near, func(node *cql.Host) string { return nodes[node] })
	for node := range nodes {
		require.True(t, adapted(node))
	}
	require.False(t, adapted(new(cql.Host)))
	require.True(t, FilterAll[string](true).Accept(""))
	require.False(t, FilterAll[string](false).Accept(""))
	require.True(t, FilterDataCenter[*host]("dc1").Accept(newHost(HostRecord{DC: "dc1"})))
	require.False(t, FilterDataCenter[*host]("dc1").Accept(newHost(HostRecord{DC: "dc2"})))
}

func TestFilterOfAddresses(t *testing.T) {
	f, n, err := FilterAddresses([]string{"10.0.0.1:9042", "10.0.0.2", "::3", "[::4]:9042", "10.0.0.1"}, ConnectAddressOf[*host])
	require.NoError(t, err)
	require.Equal(t, 4, n)
	for text, want := range map[string]bool{"10.0.0.1": true, "10.0.0.2": true, "::3": true, "::4": true, "10.0.0.3": false} {
		require.Equal(t, want, f.Accept(newHost(HostRecord{Connect: net.ParseIP(text)})), text)
	}
	f, n, err = FilterAddresses([]string{"", "10.0.0.1"}, func(h *host) []net.IP { return AddressesOf(&h.Host) })
	require.ErrorContains(t, err, "gocql: WhiteListHostFilter: ")
	require.Equal(t, 1, n)
	require.True(t, f.Accept(newHost(HostRecord{Listen: net.IPv4(10, 0, 0, 1)})))
	require.False(t, f.Accept(newHost(HostRecord{Listen: net.IPv4(10, 0, 0, 2)})))
}

// TestAddressesOfAHost are those that are known.
func TestAddressesOfAHost(t *testing.T) {
	ip := func(last byte) net.IP { return net.IPv4(10, 0, 0, last) }
	all := newHost(HostRecord{Connect: ip(1), PeerAddr: ip(2), Broadcast: ip(3), Listen: ip(4), RPC: ip(5), Preferred: ip(6)})
	require.ElementsMatch(t, []net.IP{ip(1), ip(2), ip(3), ip(4), ip(5), ip(6)}, AddressesOf(&all.Host))
	some := newHost(HostRecord{Connect: ip(1), RPC: net.IPv4zero, Listen: net.IPv6unspecified})
	require.Equal(t, []net.IP{ip(1)}, AddressesOf(&some.Host))
	require.Empty(t, AddressesOf(&new(host).Host))
}
