// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bufio"
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

const (
	// addrEnv is the address of a running null server. run.sh starts one for all drivers, on a core of its own.
	addrEnv = "VECQL_NULL_SERVER"
	// serveEnv makes a test program run as the server.
	serveEnv = "VECQL_NULL_SERVE"
)

var server struct {
	sync.Mutex
	addr string
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

// Serve runs the server. It prints its address and exits at the end of its input.
func Serve(listen string) {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(ln.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = nullserver.Serve(ln, Statements())
}

// Addr returns the address of the null server. The first call starts it in a process of its own, so that its
// allocations and CPU time are not counted as the client's.
func Addr(tb testing.TB) string {
	tb.Helper()
	if addr := os.Getenv(addrEnv); addr != "" {
		return addr
	}
	server.Lock()
	defer server.Unlock()
	if server.addr == "" {
		var err error
		if server.addr, server.stop, err = start(); err != nil {
			tb.Fatal(err)
		}
	}
	return server.addr
}

// start runs this program as the server.
func start() (addr string, stop func(), err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	return strings.TrimSpace(line), func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}, err
}
