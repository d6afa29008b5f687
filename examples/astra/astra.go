// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"

	"github.com/vecql/vecql/cql"
)

// An astra is a HostDialer: it dials the proxy of a database, and names the node as the server name of TLS.
type astra struct {
	service string      // host:port of the service that lists nodes
	tls     *tls.Config // of connections to the service, with the client certificate
	info    info        // as the service returned it at the start
}

// An info is an answer of the service: the proxy, and the host ids of some nodes.
type info struct {
	DataCenter string   `json:"local_dc"`
	Proxy      string   `json:"sni_proxy_address"`
	Nodes      []string `json:"contact_points"`
}

// openBundle reads a secure connect bundle, a zip file, and asks its service for the proxy.
func openBundle(ctx context.Context, bundle fs.FS) (*astra, error) {
	ca, err1 := fs.ReadFile(bundle, "ca.crt")
	cert, err2 := fs.ReadFile(bundle, "cert")
	key, err3 := fs.ReadFile(bundle, "key")
	config, err4 := fs.ReadFile(bundle, "config.json")
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	var service struct {
		Host string `json:"host"`
		Port int    `json:"port"`
	}
	client, err := tls.X509KeyPair(cert, key)
	if err = cmp.Or(err, json.Unmarshal(config, &service)); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	a := &astra{service: net.JoinHostPort(service.Host, strconv.Itoa(service.Port))}
	a.tls = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{client}, ServerName: service.Host}
	a.info, err = a.ask(ctx)
	return a, err
}

// ask asks the service for the proxy and the nodes.
func (a *astra) ask(ctx context.Context) (info, error) {
	var answer struct {
		Info info `json:"contact_info"`
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: a.tls.Clone(), DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+a.service+"/metadata", nil)
	if err != nil {
		return info{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return info{}, err
	}
	defer func() { _ = response.Body.Close() }()
	err = json.NewDecoder(response.Body).Decode(&answer)
	if err != nil || len(answer.Info.Nodes) == 0 {
		return info{}, fmt.Errorf("%s: %s, no nodes: %w", request.URL, response.Status, cmp.Or(err, io.EOF))
	}
	return answer.Info, nil
}

// DialHost implements vecql.HostDialer. The certificate of the proxy is for the host of the service.
func (a *astra) DialHost(ctx context.Context, host *cql.Host, _ string) (net.Conn, error) {
	node := host.ID.String()
	if host.ID == (cql.UUID{}) { // a contact point: any node
		now, err := a.ask(ctx)
		if err != nil {
			return nil, err
		}
		node = now.Nodes[rand.IntN(len(now.Nodes))]
	}
	config := a.tls.Clone()
	config.ServerName, config.InsecureSkipVerify = node, true // VerifyConnection verifies
	config.VerifyConnection = func(s tls.ConnectionState) error {
		_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: a.tls.RootCAs, DNSName: a.tls.ServerName})
		return err
	}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", a.info.Proxy)
}
