// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Client routes, the table system.client_routes of ScyllaDB Cloud, which vecql reads.

var errNoClientRoutes = errors.New("gocql: client routes are not translated: set ClusterConfig.ClientRoutesConfig")

// routesTable is the only table of client routes.
const routesTable = "system.client_routes"

// A ClientRoutesConfig configures client routes. Only the connection ids of its endpoints have an effect. The Dialer
// resolves the names in the table, and shards are reached over the plain port.
type ClientRoutesConfig struct {
	TableName                    string // system.client_routes
	Endpoints                    ClientRoutesEndpointList
	ResolveHealthyEndpointPeriod time.Duration
	ResolverCacheDuration        time.Duration
	MaxResolverConcurrency       int
	BlockUnknownEndpoints        bool // they are always blocked
	EnableShardAwareness         bool
}

// Validate checks the configuration.
func (cfg *ClientRoutesConfig) Validate() error {
	if cfg == nil {
		return nil
	}
	if len(cfg.Endpoints) == 0 {
		return errors.New("gocql: ClientRoutesConfig has no endpoints")
	}
	if cfg.TableName != "" && cfg.TableName != routesTable {
		return fmt.Errorf("gocql: ClientRoutesConfig.TableName is %q, want %q", cfg.TableName, routesTable)
	}
	return cfg.Endpoints.Validate()
}

// A ClientRoutesEndpoint is an endpoint.
type ClientRoutesEndpoint struct {
	ConnectionID   string
	ConnectionAddr string
}

// Validate checks the endpoint.
func (e ClientRoutesEndpoint) Validate() error {
	if e.ConnectionID == "" {
		return errors.New("gocql: an endpoint has no ConnectionID")
	}
	return nil
}

// A ClientRoutesEndpointList is a list of endpoints.
type ClientRoutesEndpointList []ClientRoutesEndpoint

// GetAllConnectionIDs returns the ids.
func (l ClientRoutesEndpointList) GetAllConnectionIDs() []string {
	ids := make([]string, len(l))
	for i, e := range l {
		ids[i] = e.ConnectionID
	}
	return ids
}

// Validate checks the endpoints.
func (l ClientRoutesEndpointList) Validate() error {
	for i, e := range l {
		if err := e.Validate(); err != nil {
			return fmt.Errorf("%w: endpoint %d", err, i)
		}
	}
	return nil
}

// A ClientRoutesOption changes a ClientRoutesConfig.
type ClientRoutesOption func(*ClientRoutesConfig)

// WithClientRoutes sets ClusterConfig.ClientRoutesConfig, and the contact points if there are none.
func WithClientRoutes(opts ...ClientRoutesOption) func(*ClusterConfig) {
	routes := ClientRoutesConfig{TableName: routesTable}
	for _, opt := range opts {
		opt(&routes)
	}
	return func(cfg *ClusterConfig) {
		cfg.ClientRoutesConfig = &routes
		if len(cfg.Hosts) > 0 {
			return
		}
		for _, e := range routes.Endpoints {
			if e.ConnectionAddr != "" {
				cfg.Hosts = append(cfg.Hosts, e.ConnectionAddr)
			}
		}
	}
}

// WithEndpoints sets the endpoints.
func WithEndpoints(endpoints ...ClientRoutesEndpoint) func(*ClientRoutesConfig) {
	return func(cfg *ClientRoutesConfig) { cfg.Endpoints = endpoints }
}

// WithTable sets the table.
func WithTable(tableName string) func(*ClientRoutesConfig) {
	return func(cfg *ClientRoutesConfig) { cfg.TableName = tableName }
}

// WithMaxResolverConcurrency does nothing, as in gocql.
func WithMaxResolverConcurrency(val int) func(*ClientRoutesConfig) {
	return func(*ClientRoutesConfig) {}
}

// WithResolveHealthyEndpointPeriod does nothing, as in gocql.
func WithResolveHealthyEndpointPeriod(val time.Duration) func(*ClientRoutesConfig) {
	return func(*ClientRoutesConfig) {}
}

// A ClientRoutesHandler would translate addresses by client routes, as an AddressTranslatorV2. Initialize and
// TranslateHost return an error: ClusterConfig.ClientRoutesConfig needs no handler.
type ClientRoutesHandler struct{ _ []byte }

// NewClientRoutesAddressTranslator returns a ClientRoutesHandler.
func NewClientRoutesAddressTranslator(
	cfg ClientRoutesConfig, resolver DNSResolver, pickTLSPorts bool, log StdLogger,
) *ClientRoutesHandler {
	return &ClientRoutesHandler{}
}

// Initialize returns an error.
func (p *ClientRoutesHandler) Initialize(s *Session) error { return errNoClientRoutes }

// Stop does nothing.
func (p *ClientRoutesHandler) Stop() {}

// Translate returns the address unchanged.
func (p *ClientRoutesHandler) Translate(addr net.IP, port int) (net.IP, int) { return addr, port }

// TranslateHost returns an error.
func (p *ClientRoutesHandler) TranslateHost(
	host AddressTranslatorHostInfo, addr AddressPort,
) (AddressPort, error) {
	return AddressPort{}, errNoClientRoutes
}
