// SPDX-License-Identifier: Apache-2.0

package scyllacloud

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"slices"

	"github.com/gocql/gocql"
	"sigs.k8s.io/yaml"
)

// The configuration of a session.

// NewCloudCluster returns the configuration of the connection bundle in the file bundlePath.
func NewCloudCluster(bundlePath string) (*gocql.ClusterConfig, error) {
	data, err := os.ReadFile(bundlePath)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: read the bundle: %w", err)
	}
	cc := &ConnectionConfig{}
	if err = yaml.Unmarshal(data, cc); err != nil {
		return nil, fmt.Errorf("scyllacloud: read the bundle %s: %w", bundlePath, err)
	}
	auth, err := cc.GetCurrentAuthInfo()
	if err != nil {
		return nil, err
	}
	if _, err = cc.GetCurrentDatacenterConfig(); err != nil {
		return nil, err
	}
	roots, err := cc.GetRootCAPool()
	if err != nil {
		return nil, err
	}
	cfg := gocql.NewCluster(cc.GetInitialContactPoints()...)
	cfg.Port = 443
	cfg.SslOpts = &gocql.SslOptions{Config: &tls.Config{
		RootCAs: roots, InsecureSkipVerify: cc.insecure(), //nolint:gosec // the bundle decides
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return cc.GetClientCertificate()
		},
	}}
	cfg.HostDialer = NewSniHostDialer(cc, &net.Dialer{})
	cfg.Authenticator = gocql.PasswordAuthenticator{Username: auth.Username, Password: auth.Password}
	return cfg, cc.Parameters.apply(cfg)
}

// insecure reports whether a data center must not be verified.
func (cc *ConnectionConfig) insecure() bool {
	for _, dc := range cc.Datacenters {
		if dc.InsecureSkipTLSVerify {
			return true
		}
	}
	return false
}

// apply sets the default consistencies.
func (p *Parameters) apply(cfg *gocql.ClusterConfig) error {
	if p == nil {
		return nil
	}
	if err := setConsistency(&cfg.Consistency, p.DefaultConsistency, false); err != nil {
		return err
	}
	return setConsistency(&cfg.SerialConsistency, p.DefaultSerialConsistency, true)
}

var serialLevels = []ConsistencyString{DefaultSerialConsistency, DefaultLocalSerialConsistency}

// setConsistency sets a level, which is serial or not.
func setConsistency(c *gocql.Consistency, name ConsistencyString, serial bool) error {
	if name == "" {
		return nil
	}
	if slices.Contains(serialLevels, name) != serial {
		return fmt.Errorf("scyllacloud: %q is not a valid default consistency here", name)
	}
	return c.UnmarshalText([]byte(name))
}
