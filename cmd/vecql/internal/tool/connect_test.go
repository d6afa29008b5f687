// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// TestConnectFails requires one line with the cause for each way in which a connection fails.
func TestConnectFails(t *testing.T) {
	x := newTester(t, shop)
	node := x.Hosts()[0]
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	fails := func(want string, args ...string) {
		t.Helper()
		require.Equal(t, "vecql query: "+want, x.requireFailure(exitFailed, append([]string{"query", "SELECT"}, args...)...))
	}
	const port = "use the port of the native protocol, by default 9042"
	fails("connect to "+at(web)+": the server speaks HTTP; "+port, "--hosts", at(web), "--connect-timeout", "200ms")
	fails("connect to "+at(web)+": the server speaks HTTP; "+port, "--hosts", at(web), "--tls")
	fails("connect to "+at(secure)+": the server closed the connection without an answer; if it expects TLS, use --tls or --ca",
		"--hosts", at(secure))
	fails("connect to "+at(secure)+": the certificate is of an unknown authority; name it with --ca",
		"--hosts", at(secure), "--tls")
	fails("connect to "+node+": the server has no TLS at this port; leave out the TLS flags or use the port for TLS", "--tls")
	fails("connect to 127.0.0.1:1: connection refused; check that the server runs and that the port is right",
		"--hosts", "127.0.0.1:1")
	fails("connect to "+node+": the keyspace does not exist; vecql query \"DESCRIBE KEYSPACES\" lists the keyspaces",
		"--keyspace", "none")
	fails(`no node is in data center "moon"; the data centers are: datacenter1`, "--data-center", "moon")
	fails("--ca: open none.pem: no such file or directory", "--ca", "none.pem")
	fails("--ca: connect_test.go has no certificate in PEM form", "--ca", "connect_test.go")
	fails("--cert and --key: open none.pem: no such file or directory", "--cert", "none.pem", "--key", "none.pem")
	x.SetUsers(map[string]string{"ann": "secret"})
	fails("connect to " + node + ": the server requires a password; set --user and VECQL_PASSWORD")
	fails("connect to "+node+": wrong user name or password; check --user and VECQL_PASSWORD", "--user", "ann", "--password", "x")
	x.env["VECQL_PASSWORD"] = "secret"
	require.Equal(t, "id\n--\n 1\n1 row\n", x.requireRun("query", "--user", "ann", "SELECT id FROM shop.items WHERE id = 1"))
	require.Contains(t, x.requireRun("query", "-u", "ann", "-p", "secret", "SELECT id FROM shop.items WHERE id = 1"), "1 row")
}

// TestTLS connects to a node with TLS and a certificate of the client.
func TestTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	x := newTester(t)
	x.SetTLS(&tls.Config{Certificates: web.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert})
	ca, cert, key := writeCertificate(t, web)
	const stmt = "SELECT key FROM system.local"
	require.Contains(t, x.requireRun("query", "--ca", ca, "--cert", cert, "--key", key, stmt), "1 row")
	require.Contains(t, x.requireRun("query", "--insecure", "--cert", cert, "--key", key, stmt), "1 row")
	require.Contains(t, x.requireFailure(exitFailed, "query", "--ca", ca, "--server-name", "shop.test", stmt), "shop.test")
}

// TestSettings requires the order of the sources of a setting: command line, environment, profile.
func TestSettings(t *testing.T) {
	x := newTester(t, shop)
	file := filepath.Join(t.TempDir(), "config.toml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write(strings.ReplaceAll(`
[default]
hosts = ["HOST"]
keyspace = "none"
[shop]
hosts = ["HOST", "HOST"]
keyspace = "shop"
protocol = 4
timeout = "3s"
wire-compression = "lz4"
[wrong]
host = "a"
[bad]
consistency = "FEW"
`, "HOST", x.Hosts()[0]))
	x.env = map[string]string{"VECQL_CONFIG": file}
	query := func(args ...string) []string {
		return append([]string{"query", "SELECT name FROM items WHERE id = 1"}, args...)
	}
	const row = "name\n-----\nchair\n1 row\n"
	require.Contains(t, x.requireFailure(1, query()...), "the keyspace does not exist")
	require.Equal(t, row, x.requireRun(query("--profile", "shop")...))
	require.Equal(t, row, x.requireRun(query("-k", "shop")...))
	x.env["VECQL_PROFILE"] = "shop"
	require.Equal(t, row, x.requireRun(query()...))
	x.env["VECQL_KEYSPACE"] = "none"
	require.Contains(t, x.requireFailure(1, query()...), "the keyspace does not exist")
	require.Equal(t, row, x.requireRun(query("--keyspace", "shop")...))
	delete(x.env, "VECQL_KEYSPACE")

	for profile, want := range map[string]string{
		"moon":  file + ` has no profile "moon"; its profiles are: bad, default, shop, wrong`,
		"wrong": file + `, profile wrong: "host" is no setting of a cluster`,
		"bad":   file + `, profile bad: consistency is "FEW": unknown consistency "FEW"`,
	} {
		require.Equal(t, "vecql query: "+want, x.requireFailure(1, query("--profile", profile)...))
	}
	x.env["VECQL_TIMEOUT"] = "soon"
	require.Equal(t, `vecql query: VECQL_TIMEOUT: timeout is "soon": time: invalid duration "soon"; see vecql query --help`,
		x.requireFailure(exitUsage, query()...))
	delete(x.env, "VECQL_TIMEOUT")
	_, out, _ := x.run("__complete", "query", "--config", file, "--profile", "")
	require.Equal(t, "bad\ndefault\nshop\nwrong\n:4\n", out)
	write("hosts = ")
	require.Contains(t, x.requireFailure(1, query()...), "vecql query: read "+file+": toml: ")
	require.Equal(t, "vecql query: there is no configuration file none.toml; --config or VECQL_CONFIG names it; without it the file is "+
		defaultConfigFile(), x.requireFailure(1, query("--config", "none.toml")...))
}

// TestMissingConfig requires the name of the file that lacks.
func TestMissingConfig(t *testing.T) {
	x := newTester(t, shop)
	x.env["VECQL_CONFIG"] = filepath.Join(t.TempDir(), "config.toml")
	const stmt = "SELECT id FROM shop.items WHERE id = 1"
	require.Equal(t, "vecql query: there is no configuration file "+x.env["VECQL_CONFIG"]+"; --config or VECQL_CONFIG names it; without it "+
		"the file is "+defaultConfigFile(), x.requireFailure(exitFailed, "query", stmt))
	delete(x.env, "VECQL_CONFIG")
	require.Contains(t, x.requireRun("query", stmt), "1 row")
	require.Equal(t, `vecql query: there is no profile "moon", because `+defaultConfigFile()+" does not exist or is empty",
		x.requireFailure(exitFailed, "query", "--profile", "moon", stmt))
	x.env["VECQL_CONFIG"] = file(t, "config.toml", "[shop]\ntimeout = 3\n[more]\nhost = 1\n")
	require.Equal(t, "vecql query: "+x.env["VECQL_CONFIG"]+`, profile shop: timeout is "3": time: missing unit in duration "3"; did you mean 3s?`,
		x.requireFailure(exitFailed, "query", "--profile", "shop", stmt))
}

// TestConnectFailsOnce requires that the cause of three nodes is printed once.
func TestConnectFailsOnce(t *testing.T) {
	x := newTesterOf(t, cqltest.Config{Nodes: 3}, shop)
	x.Inject(cqltest.Fault{Op: cqltest.OpStartup, Error: &cqltest.Error{Code: cqltest.CodeServer, Message: "out of order"}})
	text := x.requireFailure(exitFailed, "query", "SELECT id FROM shop.items")
	require.Equal(t, "vecql query: connect to "+strings.Join(x.Hosts(), ",")+": server: server error: out of order", text)

	node := func(addr, text string) error { return fmt.Errorf("vecql: node %s: %w", addr, errors.New(text)) }
	require.Equal(t, "dial tcp: no route", commonCause(fmt.Errorf("start: %w: %w", vecql.ErrNoConnectionsStarted,
		errors.Join(node("a:1", "dial tcp a:1: no route"), node("b:2", "dial tcp b:2: no route")))))
	require.Empty(t, commonCause(errors.Join(node("a:1", "x"), node("b:2", "y"))))
	require.Empty(t, commonCause(errors.New("x")))
}

// TestURI requires that a URI sets what the flags, the environment and the profile before it leave open.
func TestURI(t *testing.T) {
	x := newTester(t, shop)
	x.SetUsers(map[string]string{"ann": "p@ss/word"})
	host := x.Hosts()[0]
	x.env = map[string]string{"VECQL_CONFIG": file(t, "config.toml", `[default]
uri = "cassandra://ann:p%40ss%2Fword@`+host+`/shop?consistency=one"
[other]
uri = "cassandra://ann:x@10.0.0.1/none?timeout=7s"
timeout = "9s"
`)}
	const stmt, row = "SELECT name FROM items WHERE id = 1", "name\n-----\nchair\n1 row\n"
	uri := "scylla://ann:p%40ss%2Fword@" + host + "/shop?consistency=one&protocol=4&compression=lz4&timeout=3s"
	require.Equal(t, row, x.requireRun("query", stmt))
	require.Equal(t, row, x.requireRun("query", stmt, "--uri", uri))
	require.Equal(t, row, x.requireRun("query", stmt, "--profile", "other", "--uri", uri))
	require.Contains(t, x.requireFailure(1, "query", stmt, "--uri", uri, "--keyspace", "none"), "the keyspace does not exist")
	require.Contains(t, x.requireFailure(1, "query", stmt, "--uri", uri, "--password", "x"), "wrong user name or password")
	x.env["VECQL_HOSTS"], x.env["VECQL_KEYSPACE"] = "10.0.0.1", "none"
	require.Equal(t, row, x.requireRun("query", stmt, "--uri", uri), "the command line is before the environment")
	x.env["VECQL_HOSTS"], x.env["VECQL_KEYSPACE"], x.env["VECQL_URI"] = "", "", uri
	require.Equal(t, row, x.requireRun("query", stmt, "--profile", "other"))

	e := newEnv(nil, nil, nil)
	e.getenv = func(name string) string { return x.env[name] }
	delete(x.env, "VECQL_URI")
	require.NoError(t, e.flags.set.Parse([]string{"--profile", "other", "--hosts", "10.0.0.2"}))
	cfg, err := e.clusterConfig()
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.2"}, cfg.Hosts)
	require.Equal(t, 9*time.Second, cfg.Timeout, "the flag of the profile is before its URI")
	require.Equal(t, "none", cfg.Keyspace)

	for uri, want := range map[string]string{
		"cassandra://ann:secret@h?tls.verify=false&tls.ca=none.pem": "1 --ca: open none.pem: no such file or directory",
		"cassandra://ann:secret@h?timeout=soon":                     `2 --uri: the setting timeout of the uri: "soon": want a time such as 500ms or 11s; see vecql query --help`,
		"cassandra://ann:secret":                                    "2 --uri: the setting contact_points of the uri: the port of a contact point is not a number: want user:password@host[:port],host[:port]; see vecql query --help",
		"mysql://ann:secret@h":                                      "2 --uri: the uri does not begin with cassandra:// or scylla://; see vecql query --help",
	} {
		require.Equal(t, "vecql query: "+want[2:], x.requireFailure(int(want[0]-'0'), "query", stmt, "--uri", uri))
	}
}

// TestConsistencyAny requires that ANY is a level of writes alone.
func TestConsistencyAny(t *testing.T) {
	x := newTester(t, shop, backup)
	x.env["VECQL_CONSISTENCY"] = "ANY"
	rows := file(t, "rows.csv", "id,name\n7,lamp\n")
	x.requireRun("query", "INSERT INTO shop.items (id, name) VALUES (6, 'desk')")
	require.Contains(t, x.requireRun("load", "shop.items", rows, "--allow-missing"), "loaded 1 row ")
	dead := x.Inject(cqltest.Fault{Statement: "INSERT INTO", Op: cqltest.OpExecute, Error: &cqltest.Error{Code: cqltest.CodeUnavailable}})
	for _, args := range [][]string{
		{"load", "shop.items", rows, "--allow-missing", "--retry-for", "1ms"}, {"query", "INSERT INTO shop.items (id) VALUES (6)"},
	} {
		require.Contains(t, x.requireFailure(exitFailed, args...), "Cannot achieve consistency level ANY")
	}
	dead.Remove()
	for _, args := range []string{
		"count shop.items", "copy shop.items backup.items", "verify shop.items backup.items", "describe", "doctor", "unload shop.items x.csv",
		"copy shop.items backup.items --consistency ONE --to-profile any", "demo --hosts " + x.Hosts()[0],
	} {
		x.env["VECQL_CONFIG"] = file(t, "config.toml", "[any]\nconsistency = \"ANY\"\n")
		require.Contains(t, x.requireFailure(exitFailed, strings.Fields(args)...),
			": the consistency level ANY is for writes; choose another one for reads, such as ONE", args)
	}
	require.Contains(t, x.requireFailure(exitFailed, "query", "SELECT id FROM shop.items"), "ANY is for writes")
	require.Contains(t, x.requireRun("query", "--consistency", "ONE", "SELECT name FROM shop.items"), "lamp")
}

// TestOtherConfig requires that a second cluster takes nothing from the flags of the first.
func TestOtherConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("[b]\nhosts = [\"b\"]\nkeyspace = \"kb\"\n"), 0o600))
	e := newEnv(nil, nil, nil)
	require.NoError(t, e.flags.set.Parse([]string{"--config", file, "--hosts", "a", "--user", "ann"}))
	cfg, err := e.otherConfig("b", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, cfg.Hosts)
	require.Equal(t, "kb", cfg.Keyspace)
	require.Nil(t, cfg.Authenticator)
	cfg, err = e.otherConfig("b", []string{"c"})
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, cfg.Hosts)
	_, err = e.otherConfig("none", nil)
	require.Error(t, err)
}

// writeCertificate writes the certificate of a server, which is its own authority, and its key to files.
func writeCertificate(t *testing.T, s *httptest.Server) (ca, cert, key string) {
	pair := s.TLS.Certificates[0]
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der},
	} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return cert, cert, key
}
