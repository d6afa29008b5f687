// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/examples/internal/authority"
)

// A stand-in for a database of Astra in this process: a cluster whose nodes announce addresses that cannot be reached,
// the proxy before it, and the service that lists its nodes.

// token is the password of the stand-in.
const token = "AstraCS:example"

// A standIn is a running stand-in.
type standIn struct {
	cluster *cqltest.Cluster
	proxy   net.Listener
	service *http.Server
	bundle  string // path of the secure connect bundle
	wg      sync.WaitGroup
}

// start starts a stand-in. folder receives the bundle.
func start(folder string) (*standIn, error) {
	ours, err1 := authority.New("example authority")
	server, err2 := ours.Issue("localhost")
	client, err3 := ours.Issue("client")
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, err
	}
	cluster, err := cqltest.Start(cqltest.Config{
		Protocol: 4, DataCenters: []cqltest.DataCenter{{Name: "cndb-eu-west-1"}}, Users: map[string]string{"token": token},
	})
	if err != nil {
		return nil, err
	}
	s := &standIn{cluster: cluster, bundle: filepath.Join(folder, "secure-connect-shop.zip")}
	cluster.EditSystem(hideAddresses)
	config := &tls.Config{
		Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool(),
	}
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		s.proxy, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err == nil {
		err = writeBundle(s.bundle, service.Addr(), ours, client)
	}
	if err != nil {
		cluster.Close()
		return nil, err
	}
	s.service = &http.Server{Handler: http.HandlerFunc(s.list), TLSConfig: config, ReadHeaderTimeout: time.Minute}
	s.wg.Go(func() { _ = s.service.ServeTLS(service, "", "") })
	s.wg.Go(func() { s.serve(config) })
	return s, nil
}

// close stops the stand-in.
func (s *standIn) close() {
	_ = s.service.Close()
	_ = s.proxy.Close()
	s.cluster.Close() // which ends the connections of the proxy
	s.wg.Wait()
}

// hideAddresses makes nodes announce addresses of a private network.
func hideAddresses(_ *cqltest.Node, _ string, rows []cqltest.Row) []cqltest.Row {
	for _, row := range rows {
		id, _ := row["host_id"].([16]byte)
		for _, column := range []string{"native_address", "rpc_address", "broadcast_address", "listen_address", "peer"} {
			if _, ok := row[column]; ok {
				row[column] = netip.AddrFrom4([4]byte{10, id[0], id[1], id[2]})
			}
		}
		if _, ok := row["native_port"]; ok {
			row["native_port"] = 29042
		}
	}
	return rows
}

// list answers a request for /metadata.
func (s *standIn) list(w http.ResponseWriter, _ *http.Request) {
	i := info{DataCenter: "cndb-eu-west-1", Proxy: "localhost:" + portOf(s.proxy.Addr())}
	for _, n := range s.cluster.Nodes() {
		i.Nodes = append(i.Nodes, cql.UUID(n.HostID()).String())
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"version": 1, "region": "eu-west-1", "contact_info": i})
}

// serve accepts the connections of the proxy.
func (s *standIn) serve(config *tls.Config) {
	for {
		c, err := s.proxy.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() { s.forward(tls.Server(c, config)) })
	}
}

// forward connects a client with the node that is the server name of its connection.
func (s *standIn) forward(client *tls.Conn) {
	defer client.Close()
	if client.Handshake() != nil {
		return
	}
	for _, n := range s.cluster.Nodes() {
		if cql.UUID(n.HostID()).String() != client.ConnectionState().ServerName {
			continue
		}
		node, err := net.Dial("tcp", n.Addr().String())
		if err != nil {
			return
		}
		defer node.Close()
		s.wg.Go(func() {
			_, _ = io.Copy(node, client)
			_ = node.Close()
		})
		_, _ = io.Copy(client, node)
	}
}

// writeBundle writes a secure connect bundle for the service at an address.
func writeBundle(path string, service net.Addr, ours authority.Authority, client tls.Certificate) error {
	key, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	archive := zip.NewWriter(file)
	for name, text := range map[string][]byte{
		"config.json": fmt.Appendf(nil, `{"host": "localhost", "port": %s, "keyspace": "shop"}`, portOf(service)),
		"ca.crt":      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.Certificate.Certificate[0]}),
		"cert":        pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: client.Certificate[0]}),
		"key":         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		w, createErr := archive.Create(name)
		if createErr == nil {
			_, createErr = w.Write(text)
		}
		err = cmp.Or(err, createErr)
	}
	return errors.Join(err, archive.Close(), file.Close())
}

func portOf(addr net.Addr) string {
	_, port, _ := net.SplitHostPort(addr.String())
	return port
}

// local connects to a stand-in.
func local(ctx context.Context, out io.Writer) error {
	folder, err := os.MkdirTemp("", "astra")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := start(folder)
	if err != nil {
		return err
	}
	defer s.close()
	return run(ctx, []string{s.bundle}, token, out)
}
