// SPDX-License-Identifier: Apache-2.0

// Package scyllacloud connects to ScyllaDB Cloud by a connection bundle.
package scyllacloud

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// A ConnectionConfig is a connection bundle.
type ConnectionConfig struct {
	Datacenters    map[string]*Datacenter `json:"datacenters"`
	AuthInfos      map[string]*AuthInfo   `json:"authInfos"`
	Contexts       map[string]*Context    `json:"contexts"`
	Parameters     *Parameters            `json:"parameters,omitempty"`
	Kind           string                 `json:"kind,omitempty"`
	APIVersion     string                 `json:"apiVersion,omitempty"`
	CurrentContext string                 `json:"currentContext"`
}

// An AuthInfo has the credentials. Data takes precedence over a path.
type AuthInfo struct {
	ClientCertificatePath string `json:"clientCertificatePath,omitempty"`
	ClientKeyPath         string `json:"clientKeyPath,omitempty"`
	Username              string `json:"username,omitempty"`
	Password              string `json:"password,omitempty"`
	ClientCertificateData []byte `json:"clientCertificateData,omitempty"`
	ClientKeyData         []byte `json:"clientKeyData,omitempty"`
}

// A Datacenter is the entry point of a data center. Its nodes have the names host_id.NodeDomain.
type Datacenter struct {
	CertificateAuthorityPath string `json:"certificateAuthorityPath,omitempty"`
	Server                   string `json:"server"`
	TLSServerName            string `json:"tlsServerName,omitempty"`
	NodeDomain               string `json:"nodeDomain"`
	ProxyURL                 string `json:"proxyUrl,omitempty"`
	CertificateAuthorityData []byte `json:"certificateAuthorityData,omitempty"`
	InsecureSkipTLSVerify    bool   `json:"insecureSkipTlsVerify,omitempty"`
}

// A Context names a data center and an AuthInfo.
type Context struct {
	DatacenterName string `json:"datacenterName"`
	AuthInfoName   string `json:"authInfoName"`
}

// Parameters have the default consistencies.
type Parameters struct {
	DefaultConsistency       ConsistencyString `json:"defaultConsistency,omitempty"`
	DefaultSerialConsistency ConsistencyString `json:"defaultSerialConsistency,omitempty"`
}

// A ConsistencyString is the name of a consistency level.
type ConsistencyString string

// The consistency levels.
const (
	DefaultAnyConsistency         ConsistencyString = "ANY"
	DefaultOneConsistency         ConsistencyString = "ONE"
	DefaultTwoConsistency         ConsistencyString = "TWO"
	DefaultThreeConsistency       ConsistencyString = "THREE"
	DefaultQuorumConsistency      ConsistencyString = "QUORUM"
	DefaultAllConsistency         ConsistencyString = "ALL"
	DefaultLocalQuorumConsistency ConsistencyString = "LOCAL_QUORUM"
	DefaultEachQuorumConsistency  ConsistencyString = "EACH_QUORUM"
	DefaultSerialConsistency      ConsistencyString = "SERIAL"
	DefaultLocalSerialConsistency ConsistencyString = "LOCAL_SERIAL"
	DefaultLocalOneConsistency    ConsistencyString = "LOCAL_ONE"
)

// addCA adds the certificate authorities of a data center to the pool.
func (dc *Datacenter) addCA(name string, pool *x509.CertPool) error {
	if len(dc.CertificateAuthorityData) == 0 && dc.CertificateAuthorityPath == "" {
		return fmt.Errorf("scyllacloud: the data center %q has no certificate authority", name)
	}
	pem, err := dataOrFile(dc.CertificateAuthorityData, dc.CertificateAuthorityPath)
	if err != nil {
		return fmt.Errorf("scyllacloud: read the certificate authority of the data center %q: %w", name, err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("scyllacloud: the certificate authority of the data center %q has no certificates", name)
	}
	return nil
}

// GetRootCAPool returns the certificate authorities of all data centers.
func (cc *ConnectionConfig) GetRootCAPool() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for name, dc := range cc.Datacenters {
		if err := dc.addCA(name, pool); err != nil {
			return nil, err
		}
	}
	return pool, nil
}

// GetDatacenterCAPool returns the certificate authorities of a data center.
func (cc *ConnectionConfig) GetDatacenterCAPool(datacenterName string) (*x509.CertPool, error) {
	dc := cc.Datacenters[datacenterName]
	if dc == nil {
		return nil, fmt.Errorf("scyllacloud: the bundle has no data center %q", datacenterName)
	}
	pool := x509.NewCertPool()
	return pool, dc.addCA(datacenterName, pool)
}

// GetInitialContactPoints returns the servers of all data centers.
func (cc *ConnectionConfig) GetInitialContactPoints() []string {
	hosts := make([]string, 0, len(cc.Datacenters))
	for _, dc := range cc.Datacenters {
		hosts = append(hosts, dc.Server)
	}
	return hosts
}

// GetCurrentContextConfig returns the current context.
func (cc *ConnectionConfig) GetCurrentContextConfig() (*Context, error) {
	if cc.CurrentContext == "" {
		return nil, errors.New("scyllacloud: the bundle has no current context")
	}
	c := cc.Contexts[cc.CurrentContext]
	if c == nil {
		return nil, fmt.Errorf("scyllacloud: the bundle has no context %q", cc.CurrentContext)
	}
	return c, nil
}

// GetCurrentDatacenterConfig returns the data center of the current context.
func (cc *ConnectionConfig) GetCurrentDatacenterConfig() (*Datacenter, error) {
	c, err := cc.GetCurrentContextConfig()
	if err != nil {
		return nil, err
	}
	if dc := cc.Datacenters[c.DatacenterName]; dc != nil {
		return dc, nil
	}
	return nil, fmt.Errorf("scyllacloud: the bundle has no data center %q", c.DatacenterName)
}

// GetCurrentAuthInfo returns the credentials of the current context.
func (cc *ConnectionConfig) GetCurrentAuthInfo() (*AuthInfo, error) {
	c, err := cc.GetCurrentContextConfig()
	if err != nil {
		return nil, err
	}
	if info := cc.AuthInfos[c.AuthInfoName]; info != nil {
		return info, nil
	}
	return nil, fmt.Errorf("scyllacloud: the bundle has no AuthInfo %q", c.AuthInfoName)
}

// GetClientCertificate returns the certificate of the client.
func (cc *ConnectionConfig) GetClientCertificate() (*tls.Certificate, error) {
	info, err := cc.GetCurrentAuthInfo()
	if err != nil {
		return nil, err
	}
	cert, err := dataOrFile(info.ClientCertificateData, info.ClientCertificatePath)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: read the certificate of the client: %w", err)
	}
	key, err := dataOrFile(info.ClientKeyData, info.ClientKeyPath)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: read the key of the client: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("scyllacloud: read the certificate of the client: %w", err)
	}
	return &pair, nil
}

// dataOrFile returns data, else the content of the file.
func dataOrFile(data []byte, path string) ([]byte, error) {
	if len(data) > 0 {
		return data, nil
	}
	return os.ReadFile(path)
}
