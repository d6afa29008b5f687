// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
)

// Each configuration of connect.md on a cluster in memory that behaves as the service does.

// A network is the network of a program: it records the addresses that a session dials, and may change them.
type network struct {
	cluster *cqltest.Cluster
	route   func(addr string) string // nil means no change

	mu     sync.Mutex
	dialed map[string]int
}

func (n *network) DialContext(ctx context.Context, protocol, addr string) (net.Conn, error) {
	n.mu.Lock()
	if n.dialed == nil {
		n.dialed = map[string]int{}
	}
	n.dialed[addr]++
	n.mu.Unlock()
	if n.route != nil {
		addr = n.route(addr)
	}
	return n.cluster.Dialer().DialContext(ctx, protocol, addr)
}

func (n *network) addresses() (addrs []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for addr := range n.dialed {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	return addrs
}

// inMemory starts a cluster in memory.
func inMemory(t *testing.T, config cqltest.Config) *cqltest.Cluster {
	t.Helper()
	config.Network = cqltest.InMemory
	return cqltest.New(t, config)
}

// connect opens a session over a network.
func connect(t *testing.T, config vecql.ClusterConfig, n *network) *vecql.Session {
	t.Helper()
	if n != nil {
		config.Pool.Dialer = n
	}
	config.Logger = slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

// ready requires that all nodes of the cluster serve requests, each at its own address.
func ready(t *testing.T, session *vecql.Session, cluster *cqltest.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		require.NoError(t, session.Ready(ctx))
		var announced, known []string
		for _, n := range cluster.Nodes() {
			announced = append(announced, n.Addr().String())
		}
		for _, h := range session.GetHosts() {
			known = append(known, h.Address.String())
		}
		slices.Sort(announced)
		slices.Sort(known)
		if slices.Equal(announced, known) {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the session has the nodes %v, the cluster %v", known, announced)
		}
	}
}

// names are the names that resolve in a test.
type names struct {
	mu    sync.Mutex
	addrs map[string][]netip.Addr
}

// init makes package net read its configuration before the first bubble: the channels of a bubble end with it.
func init() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = (&net.Resolver{PreferGo: true}).LookupNetIP(ctx, "ip", "example.com")
}

// resolve makes only these names resolve until the test ends.
func resolve(t *testing.T, name string, addrs ...netip.Addr) *names {
	n := &names{addrs: map[string][]netip.Addr{name: addrs}}
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.answer(server)
		return client, nil
	}}
	t.Cleanup(func() { net.DefaultResolver = before })
	return n
}

func (n *names) set(name string, addrs ...netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addrs[name] = addrs
}

// answer answers one question in the form of DNS over TCP.
func (n *names) answer(c net.Conn) {
	defer c.Close()
	var size [2]byte
	_, _ = io.ReadFull(c, size[:])
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, _ = io.ReadFull(c, query)
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return
	}
	q := m.Questions[0]
	n.mu.Lock()
	addrs, ok := n.addrs[strings.TrimSuffix(q.Name.String(), ".")]
	n.mu.Unlock()
	m.Response, m.Additionals = true, nil
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addrs {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
				Body:   &dnsmessage.AResource{A: a.As4()},
			})
		}
	}
	packed, err := m.Pack()
	if err == nil {
		_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
	}
}

// TestFromEnvironment connects to a cluster that a URI names.
func TestFromEnvironment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := inMemory(t, cqltest.Config{Users: map[string]string{"shop": "p@ss"}})
		t.Setenv("CLUSTER_URI", "cassandra://shop:p%40ss@"+strings.Join(cluster.Hosts(), ",")+"?data_center=datacenter1&consistency=one")
		config, err := fromEnvironment()
		require.NoError(t, err)
		session := connect(t, *config, &network{cluster: cluster})
		require.NoError(t, session.Query("SELECT key FROM system.local").Exec(t.Context()))
	})
	t.Setenv("CLUSTER_URI", "cassandra://shop:p@ss/word@10.0.0.1")
	_, err := fromEnvironment()
	var fault *vecql.URIError
	require.ErrorAs(t, err, &fault)
	require.NotContains(t, err.Error(), "word@")
}

// addrs returns n addresses with a port.
func addrs(prefix string, n, port int) (list []netip.AddrPort) {
	for i := range n {
		list = append(list, netip.AddrPortFrom(netip.MustParseAddr(prefix).Next(), uint16(port)))
		prefix = list[i].Addr().String()
	}
	return list
}

func TestScyllaCloud(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := fakecql.TLSPair(t, "10.1.0.1")
		cluster := inMemory(t, cqltest.Config{
			Addrs: addrs("10.1.0.0", 1, 9142), DataCenters: []cqltest.DataCenter{{Name: "AWS_EU_WEST_1", Nodes: 1}},
			Scylla: &cqltest.Scylla{}, TLS: server, Users: map[string]string{"scylla": "secret"},
		})
		session := connect(t, scyllaCloud([]string{"10.1.0.1"}, client.RootCAs, "scylla", "secret"), &network{cluster: cluster})
		ready(t, session, cluster)
	})
}

func TestAzure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := fakecql.TLSPair(t, "10.1.0.1")
		cluster := inMemory(t, cqltest.Config{
			Addrs: addrs("10.1.0.0", 1, 9042), DataCenters: []cqltest.DataCenter{{Name: "dc1", Nodes: 1}},
			TLS: server, Users: map[string]string{"cassandra": "secret"},
		})
		config := azure([]string{"10.1.0.1"}, "cassandra", "secret")
		config.TLS.RootCAs = client.RootCAs // in place of the system's
		ready(t, connect(t, config, &network{cluster: cluster}), cluster)
	})
}

// keyspacesCluster starts a cluster that behaves as Amazon Keyspaces: any server answers at an address, system.peers_v2
// is missing, the partitioner is unknown, and each page is preceded by an empty one.
func keyspacesCluster(t *testing.T) (*cqltest.Cluster, *tls.Config) {
	t.Helper()
	server, client := fakecql.TLSPair(t, "cassandra.eu-west-1.amazonaws.com")
	cluster := inMemory(t, cqltest.Config{
		Addrs: addrs("10.2.0.0", 3, 9142), TLS: server, Protocol: 4, Users: map[string]string{"alice-at-1": "secret"},
		Authenticator: "com.amazon.helenus.auth.HelenusAuthenticator",
	})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE shop.items (id int PRIMARY KEY, name text)`))
	var turn atomic.Uint32
	cluster.EditSystem(func(_ *cqltest.Node, table string, rows []cqltest.Row) []cqltest.Row {
		if table == "local" {
			rows[0]["partitioner"] = "com.amazonaws.cassandra.DefaultPartitioner"
			rows[0]["host_id"] = cluster.Node(int(turn.Add(1) % 3)).HostID()
		}
		return rows
	})
	cluster.Inject(cqltest.Fault{Statement: "system.peers_v2", Error: &cqltest.Error{Code: cqltest.CodeInvalid, Message: "unknown table"}})
	var pages atomic.Uint32
	cluster.Inject(cqltest.Fault{Statement: "FROM shop.items", EmptyPage: true, Match: func(cqltest.Request) bool {
		return pages.Add(1)%2 == 1
	}})
	return cluster, client
}

func TestKeyspaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, client := keyspacesCluster(t)
		resolve(t, "cassandra.eu-west-1.amazonaws.com", netip.MustParseAddr("10.2.0.1"))
		n := &network{cluster: cluster}
		login := vecql.PasswordAuthenticator{Username: "alice-at-1", Password: "secret"}
		session := connect(t, keyspaces(client.RootCAs, login), n)
		for id := range 30 {
			require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, 'lamp')", id).Exec(t.Context()))
		}
		rows := 0
		for _, err := range vecql.Rows[int](t.Context(), session.Query("SELECT id FROM shop.items").PageSize(7)) {
			require.NoError(t, err)
			rows++
		}
		require.Equal(t, 30, rows)
		time.Sleep(10 * time.Minute) // of readings of the system tables, each with another server
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, 'lamp')", 1).Exec(t.Context()))
		require.Zero(t, session.Stats().WrongPeers)
		require.Greater(t, len(n.addresses()), 1, "the session uses the addresses of system.peers")
	})
}

// TestKeyspacesContactOnly requires that the addresses of system.peers are not dialed without host lookup.
func TestKeyspacesContactOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster, client := keyspacesCluster(t)
		resolve(t, "cassandra.eu-west-1.amazonaws.com", netip.MustParseAddr("10.2.0.1"), netip.MustParseAddr("10.2.0.2"))
		n := &network{cluster: cluster}
		config := keyspaces(client.RootCAs, vecql.PasswordAuthenticator{Username: "alice-at-1", Password: "secret"})
		config.Nodes = vecql.NodesConfig{DisableInitialHostLookup: true}
		session := connect(t, config, n)
		time.Sleep(10 * time.Minute)
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, 'lamp')", 1).Exec(t.Context()))
		require.Equal(t, []string{"10.2.0.1:9142", "10.2.0.2:9142"}, n.addresses())
	})
}

// TestSigV4 compares a signature with the one in the tests of Amazon's plugin for gocql.
func TestSigV4(t *testing.T) {
	login := sigV4{
		region: "us-west-2", now: func() time.Time { return time.Date(2020, 6, 9, 22, 41, 51, 0, time.UTC) },
		credentials: func() (id, secret, token string, err error) { return "UserID-1", "UserSecretKey-1", "", nil },
	}
	answer, next, err := login.Challenge([]byte("com.amazon.helenus.auth.HelenusAuthenticator"))
	require.NoError(t, err)
	require.Equal(t, "SigV4\x00\x00", string(answer))
	answer, _, err = next.Challenge([]byte("nonce=91703fdc2ef562e19fbdab0f58e42fe5"))
	require.NoError(t, err)
	require.Equal(t, "signature=7f3691c18a81b8ce7457699effbfae5b09b4e0714ab38c1292dbdf082c9ddd87,access_key=UserID-1,"+
		"amzdate=2020-06-09T22:41:51.000Z", string(answer))
	_, _, err = next.Challenge([]byte("no"))
	require.ErrorContains(t, err, "has no nonce")
}

// TestKubernetes: the name of a service has one address, which never leads to the first node again, or the addresses of
// all pods. All pods get new addresses at once.
func TestKubernetes(t *testing.T) {
	const name, virtual = "scylla-client.shop.svc", "10.9.0.1"
	for _, headless := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cluster := inMemory(t, cqltest.Config{})
			pods := func() (list []netip.Addr) {
				for _, n := range cluster.Nodes() {
					list = append(list, n.Addr().Addr())
				}
				return list
			}
			dns := resolve(t, name, netip.MustParseAddr(virtual))
			if headless {
				dns.set(name, pods()...)
			}
			var turn atomic.Uint32
			n := &network{cluster: cluster, route: func(addr string) string {
				switch i := turn.Load(); {
				case addr != virtual+":9042":
					return addr
				case i == 0:
					turn.Add(1)
					return cluster.Node(0).Addr().String()
				}
				return cluster.Node(int(1 + turn.Add(1)%2)).Addr().String()
			}}
			session := connect(t, kubernetes(), n)
			ready(t, session, cluster)
			cluster.MuteEvents(true)
			for _, node := range cluster.Nodes() {
				node.Kill()
			}
			for _, node := range cluster.Nodes() {
				require.NoError(t, node.Move(netip.Addr{}))
			}
			if headless {
				dns.set(name, pods()...)
			}
			time.Sleep(time.Minute)
			require.NoError(t, session.Ready(t.Context()))
			require.Len(t, session.GetHosts(), 3)
			require.NoError(t, session.Query("SELECT key FROM system.local").Exec(t.Context()))
		})
	}
}

// announce makes the nodes announce addresses of a network that the program does not reach: 172.17.0.1 and so on.
func announce(cluster *cqltest.Cluster) {
	inside := func(id any) netip.Addr {
		for _, n := range cluster.Nodes() {
			if id == n.HostID() {
				return netip.AddrFrom4([4]byte{172, 17, 0, byte(n.Number() + 1)})
			}
		}
		return netip.Addr{}
	}
	cluster.EditSystem(func(_ *cqltest.Node, _ string, rows []cqltest.Row) []cqltest.Row {
		for _, row := range rows {
			for _, column := range []string{"native_address", "rpc_address"} {
				if _, ok := row[column]; ok {
					row[column] = inside(row["host_id"])
				}
			}
		}
		return rows
	})
}

func TestTranslated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := inMemory(t, cqltest.Config{})
		announce(cluster)
		gateways := map[netip.AddrPort]netip.AddrPort{}
		for i, inside := range addrs("172.17.0.0", 3, 9042) {
			gateways[inside] = cluster.Node(i).Addr()
		}
		ready(t, connect(t, translated(cluster.Hosts()[0], gateways), &network{cluster: cluster}), cluster)
	})
}

// TestPublished: one container needs no option, because the address of a contact point stays the address of its node.
func TestPublished(t *testing.T) {
	for _, nodes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			cluster := inMemory(t, cqltest.Config{Nodes: nodes})
			announce(cluster)
			host := cluster.Hosts()[0]
			config := published(host)
			if nodes == 1 {
				config = vecql.ClusterConfig{Hosts: []string{host}}
			}
			n := &network{cluster: cluster}
			session := connect(t, config, n)
			cluster.Node(0).Kill()
			time.Sleep(time.Minute)
			require.NoError(t, cluster.Node(0).Restart())
			time.Sleep(10 * time.Minute)
			require.NoError(t, session.Query("SELECT key FROM system.local").Exec(t.Context()))
			require.Equal(t, []string{host}, n.addresses())
		})
	}
}

// TestBastion connects through a SOCKS proxy, as ssh -D starts one.
func TestBastion(t *testing.T) {
	cluster := inMemory(t, cqltest.Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { socks(c, cluster) })
		}
	})
	config, err := bastion(l.Addr().String(), cluster.Hosts())
	require.NoError(t, err)
	session := connect(t, config, nil)
	ready(t, session, cluster)
	session.Close()
	require.NoError(t, l.Close())
	wg.Wait()
}

// socks serves one connection of SOCKS 5 (RFC 1928) without login, to an IPv4 address.
func socks(c net.Conn, cluster *cqltest.Cluster) {
	defer c.Close()
	greeting, request := make([]byte, 3), make([]byte, 10)
	_, err := io.ReadFull(c, greeting)
	if err == nil {
		_, err = c.Write([]byte{5, 0})
	}
	if err == nil {
		_, err = io.ReadFull(c, request)
	}
	if err != nil || request[3] != 1 {
		return
	}
	to := netip.AddrPortFrom(netip.AddrFrom4([4]byte(request[4:8])), binary.BigEndian.Uint16(request[8:]))
	node, err := cluster.Dialer().DialContext(context.Background(), "tcp", to.String())
	if err != nil {
		return
	}
	defer node.Close()
	_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(node, c)
		_ = node.Close()
	}()
	_, _ = io.Copy(c, node)
	_ = c.Close()
	<-done
}
