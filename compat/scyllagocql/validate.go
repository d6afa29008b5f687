// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// Validation of a ClusterConfig.

// Validate checks the configuration. It sets Port if that is 0.
func (cfg *ClusterConfig) Validate() error {
	if len(cfg.Hosts) == 0 {
		return ErrNoHosts
	}
	if cfg.Authenticator != nil && cfg.AuthProvider != nil {
		return errors.New("gocql: ClusterConfig has both an Authenticator and an AuthProvider")
	}
	for name, policy := range map[string]ReconnectionPolicy{
		"InitialReconnectionPolicy": cfg.InitialReconnectionPolicy, "ReconnectionPolicy": cfg.ReconnectionPolicy,
	} {
		if policy == nil {
			return fmt.Errorf("gocql: ClusterConfig.%s is nil", name)
		}
	}
	if cfg.InitialReconnectionPolicy.GetMaxRetries() <= 0 {
		return errors.New("gocql: ClusterConfig.InitialReconnectionPolicy allows no attempt")
	}
	if err := cfg.validateNumbers(); err != nil {
		return err
	}
	if err := cfg.validatePort(); err != nil {
		return err
	}
	if cfg.SerialConsistency > 0 && !cfg.SerialConsistency.IsSerial() {
		return fmt.Errorf("gocql: ClusterConfig.SerialConsistency is %s, want SERIAL or LOCAL_SERIAL", cfg.SerialConsistency)
	}
	if cfg.DNSResolver == nil {
		return errors.New("gocql: ClusterConfig.DNSResolver is nil")
	}
	if _, segments := cfg.Compressor.(SegmentCompressor); cfg.Compressor != nil && cfg.ProtoVersion >= 5 && !segments {
		return fmt.Errorf("gocql: the compressor %q does not serve version 5 of the protocol", cfg.Compressor.Name())
	}
	if err := cfg.validateRoutes(); err != nil {
		return err
	}
	return cfg.ValidateAndInitSSL()
}

// validateNumbers checks that no number is negative.
func (cfg *ClusterConfig) validateNumbers() error {
	for name, n := range map[string]int64{
		"PageSize": int64(cfg.PageSize), "MaxRoutingKeyInfo": int64(cfg.MaxRoutingKeyInfo),
		"MaxPreparedStmts": int64(cfg.MaxPreparedStmts), "MaxRequestsPerConn": int64(cfg.MaxRequestsPerConn),
		"NumConns": int64(cfg.NumConns), "ProtoVersion": int64(cfg.ProtoVersion),
		"SocketKeepalive": int64(cfg.SocketKeepalive), "WriteTimeout": int64(cfg.WriteTimeout),
		"Timeout": int64(cfg.Timeout), "ConnectTimeout": int64(cfg.ConnectTimeout), "ReadTimeout": int64(cfg.ReadTimeout),
		"MetadataSchemaRequestTimeout": int64(cfg.MetadataSchemaRequestTimeout),
		"WriteCoalesceWaitTime":        int64(cfg.WriteCoalesceWaitTime),
		"ReconnectInterval":            int64(cfg.ReconnectInterval),
		"MaxWaitSchemaAgreement":       int64(cfg.MaxWaitSchemaAgreement),
	} {
		if n < 0 {
			return fmt.Errorf("gocql: ClusterConfig.%s is negative", name)
		}
	}
	if cfg.MaxExcessShardConnectionsRate < 0 {
		return errors.New("gocql: ClusterConfig.MaxExcessShardConnectionsRate is negative")
	}
	return nil
}

// validatePort sets Port, if it is 0, to the port of Hosts if all of them have the same one, else to 9042.
func (cfg *ClusterConfig) validatePort() error {
	if cfg.Port == 0 {
		cfg.Port = portOf(cfg.Hosts)
	}
	if cfg.Port < 0 || cfg.Port > 65535 {
		return fmt.Errorf("gocql: ClusterConfig.Port is %d", cfg.Port)
	}
	return nil
}

func portOf(hosts []string) (port int) {
	for _, host := range hosts {
		_, text, err := net.SplitHostPort(host)
		if err != nil {
			return 9042
		}
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port != 0 && port != int(n) {
			return 9042
		}
		port = int(n)
	}
	return port
}

func (cfg *ClusterConfig) validateRoutes() error {
	if cfg.ClientRoutesConfig == nil {
		return nil
	}
	if cfg.AddressTranslator != nil {
		return errors.New("gocql: ClusterConfig has both an AddressTranslator and a ClientRoutesConfig")
	}
	if cfg.HostDialer != nil {
		return errors.New("gocql: ClusterConfig has both a HostDialer, which would dial the announced addresses, and a ClientRoutesConfig")
	}
	return cfg.ClientRoutesConfig.Validate()
}

// ValidateAndInitSSL checks SslOpts: its files can be read.
func (cfg *ClusterConfig) ValidateAndInitSSL() error {
	_, err := cfg.SslOpts.config()
	return err
}
