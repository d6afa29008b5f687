// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/vecql/vecql/bench/nullserver"
)

// The null server of a benchmark: a process of its own.

const (
	// addrEnv is the address of a running null server. run.sh starts one for all drivers, on a core of its own.
	addrEnv = "VECQL_NULL_SERVER"
	// certEnv is the certificate of the issuer of the server's, as base64 of its DER.
	certEnv = "VECQL_NULL_SERVER_CERT"
	// serveEnv makes a test program run as the server.
	serveEnv = "VECQL_NULL_SERVE"
)

var server struct {
	sync.Mutex
	addr string
	cert string
	stop func()
}

// Main is the body of TestMain of each driver.
func Main(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		Serve("127.0.0.1:0")
		return
	}
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

// Serve runs the server. It prints its address and the certificate of its issuer, and exits at the end of its input.
func Serve(listen string) {
	ln, err := net.Listen("tcp", listen)
	var cert tls.Certificate
	var issuer []byte
	if err == nil {
		cert, issuer, err = nullserver.NewCertificate(ln.Addr().(*net.TCPAddr).IP)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr(), base64.StdEncoding.EncodeToString(issuer))
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = nullserver.Serve(ln, cert, Statements())
}

// Addr returns the address of the null server. The first call starts it in a process of its own, so that its
// allocations and CPU time are not counted as the client's.
func Addr(tb testing.TB) string {
	tb.Helper()
	addr, _ := address(tb)
	return addr
}

// TLS returns a configuration of clients that verifies the certificate of the null server.
func TLS(tb testing.TB) *tls.Config {
	tb.Helper()
	_, cert := address(tb)
	cfg, err := ClientTLS(cert)
	if err != nil {
		tb.Fatal("certificate of the null server: ", err)
	}
	return cfg
}

// ClientTLS returns a configuration of clients for a server whose issuer has the certificate cert, base64 of its DER.
func ClientTLS(cert string) (*tls.Config, error) {
	der, err := base64.StdEncoding.DecodeString(cert)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, nil
}

// address returns the address of the null server and the certificate of its issuer.
func address(tb testing.TB) (addr, cert string) {
	tb.Helper()
	if addr := os.Getenv(addrEnv); addr != "" {
		return addr, os.Getenv(certEnv)
	}
	server.Lock()
	defer server.Unlock()
	if server.addr == "" {
		var err error
		if server.addr, server.cert, server.stop, err = start(); err != nil {
			tb.Fatal(err)
		}
	}
	return server.addr, server.cert
}

// start runs this program as the server.
func start() (addr, cert string, stop func(), err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	return Start(cmd)
}

// Start starts a program that calls Serve.
func Start(cmd *exec.Cmd) (addr, cert string, stop func(), err error) {
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if len(words) != 2 {
		stop()
		return "", "", nil, fmt.Errorf("the server printed %q: %w", line, err)
	}
	return words[0], words[1], stop, nil
}
