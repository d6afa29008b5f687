// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/proxy"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The configurations of connect.md, which has the functions of this file word for word. connect_run_test.go runs them.

func fromEnvironment() (*vecql.ClusterConfig, error) {
	config, err := vecql.ParseURI(os.Getenv("CLUSTER_URI")) // cassandra://shop:p%40ss@10.0.0.1,10.0.0.2/shop?data_center=dc1
	if err != nil {
		return nil, err // a *vecql.URIError, without the password
	}
	config.Defaults.Idempotent = true
	return config, nil
}

func scyllaCloud(nodes []string, authorities *x509.CertPool, user, password string) vecql.ClusterConfig {
	config := vecql.ClusterConfig{Hosts: nodes, Port: 9142}
	config.TLS = &tls.Config{RootCAs: authorities}
	config.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: password}
	config.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: vecql.DCAwarePolicy{DataCenter: "AWS_EU_WEST_1"}}
	config.Defaults.Consistency = cql.LocalQuorum
	return config
}

func keyspaces(authorities *x509.CertPool, login cql.Authenticator) vecql.ClusterConfig {
	const endpoint = "cassandra.eu-west-1.amazonaws.com"
	config := vecql.ClusterConfig{Hosts: []string{endpoint}, Port: 9142}
	config.TLS = &tls.Config{RootCAs: authorities, ServerName: endpoint} // also at the addresses of system.peers
	config.Authenticator = login
	config.Defaults.Consistency = cql.LocalQuorum // no other one is accepted for writes
	config.Nodes.LoadBalanced = true              // behind an address are many servers
	config.Protocol.Version = 4
	return config
}

// A sigV4 answers the challenge of Amazon Keyspaces with a signature of version 4.
type sigV4 struct {
	region      string
	credentials func() (id, secret, token string, err error) // called for each connection
	now         func() time.Time
	nonce       bool // the next challenge has a nonce
}

func (s sigV4) Success([]byte) error { return nil }

func (s sigV4) Challenge(challenge []byte) ([]byte, cql.Authenticator, error) {
	if !s.nonce {
		s.nonce = true
		return []byte("SigV4\x00\x00"), s, nil
	}
	nonce, ok := strings.CutPrefix(string(challenge), "nonce=")
	if !ok {
		return nil, nil, fmt.Errorf("the challenge %q has no nonce", challenge)
	}
	id, secret, token, err := s.credentials()
	if err != nil {
		return nil, nil, err
	}
	at := s.now().UTC()
	day, date := at.Format("20060102"), at.Format("2006-01-02T15:04:05.000Z")
	scope := day + "/" + s.region + "/cassandra/aws4_request"
	hash := sha256.Sum256([]byte(nonce))
	hash = sha256.Sum256(fmt.Appendf(nil, "PUT\n/authenticate\nX-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=%s&"+
		"X-Amz-Date=%s&X-Amz-Expires=900\nhost:cassandra\n\nhost\n%x", url.QueryEscape(id+"/"+scope), url.QueryEscape(date), hash))
	key := []byte("AWS4" + secret)
	text := fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", date, scope, hash)
	for _, part := range []string{day, s.region, "cassandra", "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	answer := fmt.Sprintf("signature=%x,access_key=%s,amzdate=%s", key, id, date)
	if token != "" {
		answer += ",session_token=" + token
	}
	return []byte(answer), nil, nil
}

func azure(nodes []string, user, password string) vecql.ClusterConfig {
	config := vecql.ClusterConfig{Hosts: nodes}
	config.TLS = &tls.Config{} // the authorities of the system
	config.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: password}
	config.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: vecql.DCAwarePolicy{DataCenter: "dc1"}}
	config.Defaults.Consistency = cql.LocalQuorum
	return config
}

func kubernetes() vecql.ClusterConfig {
	return vecql.ClusterConfig{Hosts: []string{"scylla-client.shop.svc"}}
}

// gateways has the address outside of the cluster of each address inside.
func translated(contact string, gateways map[netip.AddrPort]netip.AddrPort) vecql.ClusterConfig {
	config := vecql.ClusterConfig{Hosts: []string{contact}}
	config.Nodes.AddressTranslator = func(inside netip.AddrPort) netip.AddrPort { return gateways[inside] }
	return config
}

func published(host string) vecql.ClusterConfig {
	config := vecql.ClusterConfig{Hosts: []string{host}} // "127.0.0.1:9042"
	config.Nodes.DisableInitialHostLookup = true
	return config
}

func bastion(socks string, nodes []string) (vecql.ClusterConfig, error) {
	dialer, err := proxy.SOCKS5("tcp", socks, nil, proxy.Direct) // ssh -N -D 127.0.0.1:1080 bastion
	if err != nil {
		return vecql.ClusterConfig{}, err
	}
	config := vecql.ClusterConfig{Hosts: nodes}
	config.Pool.Dialer = dialer.(vecql.Dialer)
	return config, nil
}
