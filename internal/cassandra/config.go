// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The files and the command line of a node: cassandra.yaml, rack and data center, logging, options of java.

const storagePort = 7000

// reserved lists the settings of cassandra.yaml that this package relies on to claim a network and to detect that a
// cluster is ready.
var reserved = map[string]bool{
	"listen_address": true, "listen_interface": true, "rpc_address": true, "rpc_interface": true,
	"broadcast_address": true, "broadcast_rpc_address": true, "native_transport_port": true,
	"native_transport_port_ssl": true, "storage_port": true, "ssl_storage_port": true, "seed_provider": true,
	"default_keyspace_rf": true,
}

// javaOptions make a node of any version start fast and use little memory.
var javaOptions = []string{
	"-Xms64m", "-Xmx512m",
	// least memory, and least processor time for a process that lives for minutes
	"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
	"-XX:+ExitOnOutOfMemoryError",
	"-XX:-UsePerfData",
	"-Djava.net.preferIPv4Stack=true",
	"-Dio.netty.tryReflectionSetAccessible=true",
	"-Dcassandra-foreground=yes",
	"-Dcassandra.memtable_row_overhead_computation_step=100", // 100000 samples by default: 1.5 s of every start
	"-Dcassandra.skip_sync=true",                             // no fsync: data survives kill -9, not a power failure
	"-Dcassandra.skip_wait_for_gossip_to_settle=0",
	"-Dcassandra.ring_delay_ms=1000",
	"-Dcassandra.shutdown_announce_in_ms=100",
	"-Dcassandra.superuser_setup_delay_ms=0",
}

const logback = `<configuration scan="false">
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %-5level [%thread] %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
`

// settings returns the content of cassandra.yaml before Options.Set.
func (n *Node) settings() map[string]any {
	o := n.cluster.options
	seeds := make([]string, len(n.cluster.Nodes))
	for i, host := range n.cluster.Hosts() {
		seeds[i] = fmt.Sprintf("%s:%d", host, storagePort)
	}
	s := map[string]any{
		"cluster_name":          "vecql",
		"partitioner":           "org.apache.cassandra.dht.Murmur3Partitioner",
		"endpoint_snitch":       "GossipingPropertyFileSnitch",
		"listen_address":        n.host,
		"rpc_address":           n.host,
		"storage_port":          storagePort,
		"native_transport_port": Port,
		"seed_provider": []any{map[string]any{
			"class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
			"parameters": []any{map[string]any{"seeds": strings.Join(seeds, ",")}},
		}},
		// Roles and traces are replicated to every node: logins work while a majority is up, and a scan at ALL counts
		// the live nodes.
		"default_keyspace_rf":        len(n.cluster.Nodes),
		"num_tokens":                 1,
		"auto_bootstrap":             false,
		"auto_snapshot":              false,
		"commitlog_sync":             "periodic",
		"commitlog_sync_period":      "10s",
		"storage_compatibility_mode": "NONE",

		// Options.Set has the reason for the trie.
		"memtable": map[string]any{"configurations": map[string]any{
			"skiplist": map[string]any{"class_name": "SkipListMemtable"},
			"trie":     map[string]any{"class_name": "TrieMemtable"},
			"default":  map[string]any{"inherits": "trie"},
		}},

		"materialized_views_enabled":     true,
		"user_defined_functions_enabled": true,
		"sasi_indexes_enabled":           true,
		"drop_compact_storage_enabled":   true,
		"batch_size_warn_threshold":      "64KiB",
		"batch_size_fail_threshold":      "16MiB",

		"concurrent_reads":             8,
		"concurrent_writes":            8,
		"concurrent_counter_writes":    8,
		"concurrent_compactors":        1,
		"native_transport_max_threads": 16,
		"key_cache_size":               "8MiB",
		"counter_cache_size":           "4MiB",
		"file_cache_size":              "32MiB",

		// Timeouts are generous, so that a busy machine does not cause errors.
		"request_timeout":               "20s",
		"read_request_timeout":          "10s",
		"range_request_timeout":         "20s",
		"write_request_timeout":         "10s",
		"counter_write_request_timeout": "10s",
		"cas_contention_timeout":        "5s",
		"truncate_request_timeout":      "60s",
		"native_transport_timeout":      "60s",
	}
	if o.Auth {
		s["authenticator"], s["authorizer"] = "PasswordAuthenticator", "CassandraAuthorizer"
	}
	if creds := n.cluster.creds; creds != nil {
		s["client_encryption_options"] = map[string]any{
			"enabled":             true,
			"optional":            o.TLS == TLSOptional,
			"require_client_auth": o.TLS == TLSMutual,
			"ssl_context_factory": map[string]any{"class_name": "org.apache.cassandra.security.PEMBasedSslContextFactory"},
			"keystore":            creds.serverFile,
			"truststore":          creds.caFile,
		}
	}
	return s
}

// set stores value under the dotted name.
func set(settings map[string]any, name string, value any) error {
	at := settings
	rest := name
	for {
		part, next, nested := strings.Cut(rest, ".")
		if !nested {
			at[part] = value
			return nil
		}
		inner, ok := at[part].(map[string]any)
		if !ok {
			if at[part] != nil {
				return fmt.Errorf("cassandra: Set %q: %q is not a group of settings", name, strings.TrimSuffix(name, "."+next))
			}
			inner = map[string]any{}
			at[part] = inner
		}
		at, rest = inner, next
	}
}

// token returns the token of the node when n tokens divide the Murmur3 ring evenly, so that it is the same in every
// run.
func token(i, n int) string {
	t := new(big.Int).Lsh(big.NewInt(int64(i)), 64)
	t.Div(t, big.NewInt(int64(n)))
	return t.Sub(t, new(big.Int).Lsh(big.NewInt(1), 63)).String()
}

// writeFiles writes the node's folder and sets its release and command line.
func (n *Node) writeFiles(o Options, rt *runtimeFiles) error {
	settings := n.settings()
	rt.remove(settings)
	if rt.noPEM && n.cluster.creds != nil {
		n.cluster.creds.useStores(settings["client_encryption_options"].(map[string]any))
	}
	for name, value := range o.Set {
		if err := set(settings, name, value); err != nil {
			return err
		}
	}
	if settings["num_tokens"] == 1 {
		settings["initial_token"] = token(n.index, len(n.cluster.Nodes))
	}
	if err := rt.rename(settings); err != nil {
		return err
	}
	yaml, err := json.MarshalIndent(settings, "", "  ") // JSON is YAML
	if err != nil {
		return fmt.Errorf("cassandra: Set: %w", err)
	}
	dc := "datacenter1"
	if n.index < len(o.DCs) {
		dc = o.DCs[n.index]
	}
	if err := os.MkdirAll(filepath.Join(n.dir, "tmp"), 0o755); err != nil {
		return fmt.Errorf("cassandra: %w", err)
	}
	files := map[string]string{
		"cassandra.yaml":    string(yaml),
		"rackdc.properties": "dc=" + dc + "\nrack=rack1\n",
		"logback.xml":       logback,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("cassandra: %w", err)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.release, n.classpath = rt.release, rt.classpath
	n.argv = slices.Concat([]string{rt.java.path}, javaOptions, rt.javaOptions)
	if rt.archive != "" {
		n.argv = append(n.argv, "-XX:SharedArchiveFile="+rt.archive)
	}
	n.argv = append(n.argv,
		"-Dlogback.configurationFile="+n.url("logback.xml"),
		"-Dcassandra.config="+n.url("cassandra.yaml"),
		"-Dcassandra-rackdc.properties="+n.url("rackdc.properties"),
		"-Dcassandra.storagedir="+filepath.Join(n.dir, "data"),
		"-Dcassandra.logdir="+n.dir,
		// native libraries are unpacked here, and a killed node leaves them behind
		"-Djava.io.tmpdir="+filepath.Join(n.dir, "tmp"))
	n.argv = append(n.argv, o.JVM...)
	n.argv = append(n.argv, "-cp", rt.classpath, "org.apache.cassandra.service.CassandraDaemon")
	return nil
}

func (n *Node) url(file string) string {
	return (&url.URL{Scheme: "file", Path: filepath.Join(n.dir, file)}).String()
}
