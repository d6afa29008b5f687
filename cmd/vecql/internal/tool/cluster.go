// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/clusteruri"
)

// The flags of a cluster, and the configuration of a session that they make.

// clusterFlags are the flags that name a cluster and set how a command uses it. Every verb that connects has them.
type clusterFlags struct {
	set *pflag.FlagSet // defines the flags, and with them the keys of profiles and the variables of the environment

	profile, configFile string

	uri                       string
	hosts                     []string
	user, password            string
	tls, insecure             bool
	ca, cert, key, serverName string
	dataCenter, keyspace      string
	consistency, serial       consistencyFlag
	protocol                  int
	compression               string
	timeout, connectTimeout   time.Duration
	verbose                   bool
}

// flagURI is the name of the flag with settings that have flags of their own.
const flagURI = "uri"

// The names of flags that are no settings of a cluster: profiles cannot have them.
const (
	flagProfile = "profile"
	flagConfig  = "config"
	flagVerbose = "verbose"
)

// init defines the flags with their defaults.
func (f *clusterFlags) init() {
	f.set = pflag.NewFlagSet("cluster", pflag.ContinueOnError)
	f.set.StringVar(&f.uri, flagURI, "", "`uri` of the cluster, cassandra://host/keyspace, for what other flags leave open")
	f.set.StringSliceVar(&f.hosts, "hosts", []string{"127.0.0.1"}, "contact points, `host[:port],...`")
	f.set.StringVarP(&f.user, "user", "u", "", "user `name`")
	f.set.StringVarP(&f.password, "password", "p", "", "`password`; VECQL_PASSWORD or a profile hide it from other users")
	f.set.BoolVar(&f.tls, "tls", false, "connect with TLS; the system's certificates are trusted unless --ca is set")
	f.set.StringVar(&f.ca, "ca", "", "connect with TLS and trust the certificates in this PEM `file`")
	f.set.StringVar(&f.cert, "cert", "", "certificate of the client, a PEM `file`")
	f.set.StringVar(&f.key, "key", "", "private key of --cert, a PEM `file`")
	f.set.StringVar(&f.serverName, "server-name", "", "`name` in the certificates of the nodes; default the contact point")
	f.set.BoolVar(&f.insecure, "insecure", false, "connect with TLS and trust every certificate")
	f.set.StringVar(&f.dataCenter, "data-center", "", "prefer the nodes of the data center `name`")
	f.set.StringVarP(&f.keyspace, "keyspace", "k", "", "`keyspace` of tables without one")
	f.set.Var(&f.consistency, "consistency", "consistency `level`; default QUORUM; ANY for writes only")
	f.set.Var(&f.serial, "serial-consistency", "`level` of conditional statements, SERIAL or LOCAL_SERIAL")
	f.set.IntVar(&f.protocol, "protocol", 0, "`version` of the native protocol, 3, 4 or 5; default the highest")
	f.set.StringVar(&f.compression, "wire-compression", "none", "`method` of requests and responses: none, lz4 or snappy")
	f.set.DurationVar(&f.timeout, "timeout", 0, "`time` that a request may take; default 11s")
	f.set.DurationVar(&f.connectTimeout, "connect-timeout", 0, "`time` that a connection may take; default 11s")
	f.set.StringVar(&f.profile, flagProfile, "", "profile `name` in the configuration file; default \"default\" if it exists")
	f.set.StringVar(&f.configFile, flagConfig, "", "configuration `file` with profiles; default "+defaultConfigFile())
	f.set.BoolVar(&f.verbose, flagVerbose, false, "log what the driver does")
}

// addClusterFlags defines a verb's flags of a cluster.
func (e *env) addClusterFlags(c *cobra.Command) { addGroup(c, e.flags.set, clusterGroup) }

// completeClusterFlags registers how values of the flags are completed. The verbs share the flags.
func (e *env) completeClusterFlags() {
	c := &cobra.Command{}
	e.addClusterFlags(c)
	for name, values := range map[string][]string{
		"consistency":      {"ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_ONE", "LOCAL_QUORUM", "EACH_QUORUM"},
		"wire-compression": {"none", "lz4", "snappy"},
	} {
		must(c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	must(c.RegisterFlagCompletionFunc(flagProfile, e.completeProfiles))
	for _, name := range []string{"ca", "cert", "key", flagConfig} {
		must(c.MarkFlagFilename(name))
	}
}

// must panics on the error of a call that fails only on a mistake in this package.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A consistencyFlag is the value of a flag that names a consistency level. The level ANY is the zero value.
type consistencyFlag struct {
	level cql.Consistency
	isSet bool
}

// Set implements pflag.Value.
func (c *consistencyFlag) Set(s string) (err error) {
	c.level, err = cql.ParseConsistency(s)
	c.isSet = err == nil
	return err
}

func (c *consistencyFlag) String() string {
	if !c.isSet {
		return ""
	}
	return c.level.String()
}

// refuseAny returns an error for the level ANY, which reads cannot have.
func (c *consistencyFlag) refuseAny() error {
	if c.isSet && c.level == cql.Any {
		return errors.New("the consistency level ANY is for writes; choose another one for reads, such as ONE")
	}
	return nil
}

// Type implements pflag.Value.
func (c *consistencyFlag) Type() string { return "level" }

// clusterConfig returns the configuration of a session. The driver's log goes to log if --verbose is set.
func (f *clusterFlags) clusterConfig(log io.Writer) (*vecql.ClusterConfig, error) {
	cfg := &vecql.ClusterConfig{Hosts: f.hosts}
	cfg.Keyspace, cfg.Protocol.Version = f.keyspace, f.protocol
	cfg.Defaults.Consistency, cfg.Defaults.SerialConsistency = f.consistency.level, f.serial.level
	if f.serial.isSet && !cfg.Defaults.SerialConsistency.IsSerial() {
		return nil, usagef("--serial-consistency is %v, want SERIAL or LOCAL_SERIAL", cfg.Defaults.SerialConsistency)
	}
	cfg.Timeout, cfg.ConnectTimeout = f.timeout, f.connectTimeout
	cfg.Protocol.ApplicationInfo = vecql.ApplicationInfo{ApplicationName: "vecql tool", ApplicationVersion: version()}
	switch f.compression {
	case "", "none":
	case "lz4":
		cfg.Compressor = vecql.LZ4Compressor{}
	case "snappy":
		cfg.Compressor = vecql.SnappyCompressor{}
	default:
		return nil, usagef("--wire-compression is %q, want none, lz4 or snappy", f.compression)
	}
	if f.user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: f.user, Password: f.password}
	}
	if f.dataCenter != "" {
		local := vecql.DCAwarePolicy{DataCenter: f.dataCenter}
		cfg.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: local}
	}
	cfg.Logger = slog.New(slog.DiscardHandler)
	if f.verbose {
		cfg.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	var err error
	cfg.TLS, err = f.tlsConfig()
	return cfg, err
}

// tlsConfig returns the configuration of TLS, nil for connections without TLS.
func (f *clusterFlags) tlsConfig() (*tls.Config, error) {
	if (f.cert == "") != (f.key == "") {
		return nil, usagef("--cert and --key belong together: one of them is missing")
	}
	settings := clusteruri.TLS{CA: f.ca, Cert: f.cert, Key: f.key, ServerName: f.serverName, Insecure: f.insecure}
	if !f.tls && settings == (clusteruri.TLS{}) {
		return nil, nil
	}
	return settings.Config("--")
}
