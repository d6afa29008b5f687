// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql"
)

// Clusters: URIs, and configurations that the program registers.

// ErrCluster means that the name of a cluster is neither a valid URI nor one of RegisterCluster.
var ErrCluster = errors.New("beamvecql: not a cluster")

var clusters sync.Map // name to func() (vecql.ClusterConfig, error)

// RegisterCluster registers the configuration of a cluster under a name, which transforms take in place of a URI.
// Workers call config, so that passwords and keys come from the worker's machine and are not part of the pipeline. Call
// it in an init function, before beam.Init: a worker is another process of the same program. It panics if the name is
// empty, has "://", or is taken.
func RegisterCluster(name string, config func() (vecql.ClusterConfig, error)) {
	if name == "" || strings.Contains(name, "://") {
		panic(fmt.Sprintf("beamvecql: register cluster %q: the name is empty or a URI", name))
	}
	if _, taken := clusters.LoadOrStore(name, config); taken {
		panic(fmt.Sprintf("beamvecql: register cluster %q: the name is taken", name))
	}
}

// clusterConfig returns the configuration of a cluster: see the package documentation.
func clusterConfig(cluster string) (cfg vecql.ClusterConfig, err error) {
	registered, ok := clusters.Load(cluster)
	switch {
	case ok:
		if cfg, err = registered.(func() (vecql.ClusterConfig, error))(); err != nil {
			return cfg, fmt.Errorf("beamvecql: configure cluster %q: %w", cluster, err)
		}
	case !strings.Contains(cluster, "://"):
		return cfg, fmt.Errorf("%w: no cluster is registered as %q: call RegisterCluster in an init function, or use a URI",
			ErrCluster, cluster)
	default:
		if cfg, err = parseURI(cluster); err != nil { // without the URI, which may have a password
			return cfg, fmt.Errorf("%w: the URI: %w", ErrCluster, err)
		}
	}
	if cfg.ApplicationInfo == (vecql.ApplicationInfo{}) {
		cfg.ApplicationInfo.ApplicationName = "beamvecql"
	}
	return cfg, nil
}

// checkCluster returns an error for a URI with a mistake, when the pipeline is made. A name may be registered on
// workers only.
func checkCluster(cluster string) error {
	if !strings.Contains(cluster, "://") {
		return nil
	}
	_, err := clusterConfig(cluster)
	return err
}

// parseURI returns the configuration of a URI. Package net/url refuses ports in lists of hosts, so that the hosts are
// cut out first.
func parseURI(text string) (cfg vecql.ClusterConfig, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "cassandra" && scheme != "scylla" {
		return cfg, fmt.Errorf("the scheme is %q, want cassandra or scylla", scheme)
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	user, hosts := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, hosts = authority[:i+1], authority[i+1:]
	}
	u, err := url.Parse(scheme + "://" + user + "hosts" + path)
	if err != nil {
		return cfg, errors.New("it cannot be parsed")
	}
	if hosts == "" {
		return cfg, errors.New("it has no hosts")
	}
	cfg = *vecql.NewCluster(strings.Split(hosts, ",")...)
	cfg.Keyspace = strings.Trim(u.Path, "/")
	if u.User != nil {
		password, _ := u.User.Password()
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: u.User.Username(), Password: password}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return cfg, errors.New("its parameters cannot be parsed")
	}
	security := map[string]string{}
	for name, values := range query {
		if err := setParameter(&cfg, security, name, values[len(values)-1]); err != nil {
			return cfg, fmt.Errorf("parameter %s is %q: %w", name, values[len(values)-1], err)
		}
	}
	cfg.TLS, err = tlsConfig(security)
	return cfg, err
}

// setParameter sets the field of a parameter of a URI. Those of TLS are collected in security.
func setParameter(cfg *vecql.ClusterConfig, security map[string]string, name, value string) (err error) {
	switch name {
	case "data_center":
		cfg.PoolConfig.HostSelectionPolicy = vecql.TokenAwareHostPolicy(vecql.DCAwareRoundRobinPolicy(value))
	case "consistency":
		cfg.Consistency, err = vecql.ParseConsistency(value)
	case "timeout":
		cfg.Timeout, err = time.ParseDuration(value)
	case "connect_timeout":
		cfg.ConnectTimeout, err = time.ParseDuration(value)
	case "protocol":
		cfg.ProtoVersion, err = strconv.Atoi(value)
	case "compression":
		switch value {
		case "lz4":
			cfg.Compressor = vecql.LZ4Compressor{}
		case "snappy":
			cfg.Compressor = vecql.SnappyCompressor{}
		case "none":
		default:
			return errors.New("want none, lz4 or snappy")
		}
	case "tls", "tls.verify":
		if value != "true" && value != "false" {
			return errors.New("want true or false")
		}
		security[name] = value
	case "tls.ca", "tls.cert", "tls.key", "tls.server_name":
		security[name] = value
	default:
		return errors.New("no such parameter")
	}
	return err
}

// tlsConfig returns the configuration of TLS, nil for connections without TLS. The files are those of the worker.
func tlsConfig(security map[string]string) (*tls.Config, error) {
	if len(security) == 0 || len(security) == 1 && security["tls"] == "false" {
		return nil, nil
	}
	cfg := &tls.Config{ServerName: security["tls.server_name"], InsecureSkipVerify: security["tls.verify"] == "false"}
	if path := security["tls.ca"]; path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("parameter tls.ca: %w", err)
		}
		if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("parameter tls.ca: %s has no certificate in PEM form", path)
		}
	}
	if cert, key := security["tls.cert"], security["tls.key"]; cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("parameters tls.cert and tls.key: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
