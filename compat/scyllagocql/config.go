// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"
	"strconv"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// The configuration of vecql.

// config returns the configuration of vecql. It sets s.picker.
func (s *Session) config() (*vecql.ClusterConfig, error) {
	cfg := &s.cfg
	hosts, err := cfg.contactPoints()
	if err != nil {
		return nil, err
	}
	c := s.common(hosts)
	c.Pool.MaxRequestsPerConn, c.Pool.DisableShardAwarePort = cfg.MaxRequestsPerConn, cfg.DisableShardAwarePort
	c.Defaults.RetryPolicy = vecql.SimpleRetryPolicy{NumRetries: 3} // of queries without one
	c.Protocol.ApplicationInfo = applicationInfo(cfg.ApplicationInfo)
	if c.Logger = api.AdaptLogger(&api.DefaultLogger{}); cfg.Logger != nil {
		c.Logger = api.AdaptLogger(cfg.Logger)
	}
	if cfg.ClientRoutesConfig != nil {
		c.Nodes.ClientRoutes = cfg.ClientRoutesConfig.Endpoints.GetAllConnectionIDs()
	}
	if err := s.configureDialing(c); err != nil {
		return nil, err
	}
	s.configurePolicy(c)
	s.configureEvents(c)
	return c, nil
}

// contactPoints returns the contact points. vecql resolves names itself, unless the program has a resolver.
func (cfg *ClusterConfig) contactPoints() ([]string, error) {
	if r, ok := cfg.DNSResolver.(*SimpleDNSResolver); ok && !r.preferV4 {
		return cfg.Hosts, nil
	}
	var out []string
	for _, host := range cfg.Hosts {
		name, port, err := net.SplitHostPort(host)
		if err != nil {
			name, port = host, strconv.Itoa(cfg.Port)
		}
		if ip := net.ParseIP(name); ip != nil {
			out = append(out, net.JoinHostPort(name, port))
			continue
		}
		ips, err := cfg.DNSResolver.LookupIP(name)
		if err != nil {
			return nil, err
		}
		for _, ip := range ips {
			out = append(out, net.JoinHostPort(ip.String(), port))
		}
	}
	return out, nil
}

func applicationInfo(info ApplicationInfo) vecql.ApplicationInfo {
	if info == nil {
		return vecql.ApplicationInfo{}
	}
	options := make(map[string]string)
	info.UpdateStartupOptions(options)
	return vecql.ApplicationInfo{
		ApplicationName: options[applicationName], ApplicationVersion: options[applicationVersion],
		ClientID: options[clientID],
	}
}

// configureDialing sets how connections are opened. A HostDialer of the program also does TLS.
func (s *Session) configureDialing(c *vecql.ClusterConfig) (err error) {
	cfg := &s.cfg
	if c.TLS, err = cfg.SslOpts.config(); err != nil {
		return err
	}
	var dialer Dialer = &net.Dialer{KeepAlive: cfg.SocketKeepalive}
	if cfg.Dialer != nil {
		dialer = cfg.Dialer
	}
	translator, hostwise := cfg.AddressTranslator.(AddressTranslatorV2)
	switch {
	case cfg.HostDialer != nil:
		c.TLS = nil
		c.Pool.HostDialer = api.AdaptHostDialer(cfg.HostDialer, s.hosts.Of)
	case hostwise:
		c.Pool.HostDialer = translatingDialer{translator, portDialer{dialer}, c.TLS, s.hosts}
		c.TLS = nil
	case cfg.Dialer != nil:
		c.Pool.Dialer = portDialer{dialer}
	default:
		c.Pool.Dialer = dialer
	}
	if !hostwise {
		c.Nodes.AddressTranslator = api.AdaptTranslator(cfg.AddressTranslator)
	}
	return nil
}

// observers returns the observers of the configuration.
func (s *Session) observers() api.Observers[*HostInfo] {
	o := api.Observers[*HostInfo]{
		HostOf: s.hosts.Of, Plain: plain, Connect: s.cfg.ConnectObserver, Stream: s.cfg.StreamObserver,
	}
	if s.cfg.FrameHeaderObserver != nil {
		o.Frame = frameHeaderObserver{s.cfg.FrameHeaderObserver}
	}
	return o
}
