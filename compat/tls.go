// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS options.

// TLSOptions are the fields of gocql's SslOptions.
type TLSOptions struct {
	Config                    *tls.Config
	CertPath, KeyPath, CaPath string
	EnableHostVerification    bool
}

// TLSConfig returns the configuration of connections. The certificate of a server is verified unless
// Config.InsecureSkipVerify is set and EnableHostVerification is not. gocql does not verify either if Config is nil and
// EnableHostVerification is not set: that difference is on purpose. Config is not changed.
func (o TLSOptions) TLSConfig() (*tls.Config, error) {
	config := o.Config.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if o.EnableHostVerification {
		config.InsecureSkipVerify = false
	}
	if o.CaPath != "" {
		pem, err := os.ReadFile(o.CaPath)
		if err != nil {
			return nil, fmt.Errorf("gocql: read CA certificates: %w", err)
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		} else {
			config.RootCAs = config.RootCAs.Clone()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("gocql: read CA certificates: %s contains none", o.CaPath)
		}
	}
	if o.CertPath != "" || o.KeyPath != "" {
		cert, err := tls.LoadX509KeyPair(o.CertPath, o.KeyPath)
		if err != nil {
			return nil, fmt.Errorf("gocql: read the client certificate: %w", err)
		}
		config.Certificates = append(config.Certificates[:len(config.Certificates):len(config.Certificates)], cert)
	}
	return config, nil
}
