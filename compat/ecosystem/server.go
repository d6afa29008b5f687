// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cassandra"
)

// startServer starts a Cassandra node, or one of cqltest, and forwards to it the port 9042 of the addresses that tests
// have as default. The returned function stops both.
func startServer(ctx context.Context, emulated bool) (stop func(), err error) {
	port := strconv.Itoa(cassandra.Port)
	var address string
	var stopNode func() error
	if emulated {
		cluster, err := cqltest.Start(cqltest.Config{Nodes: 1})
		if err != nil {
			return nil, err
		}
		address, stopNode = cluster.Hosts()[0], func() error { cluster.Close(); return nil }
	} else {
		cluster, err := cassandra.Start(ctx, cassandra.Options{})
		if err != nil {
			return nil, err
		}
		address, stopNode = net.JoinHostPort(cluster.Hosts()[0], port), cluster.Close
	}
	var listeners []net.Listener
	stop = func() {
		for _, l := range listeners {
			l.Close()
		}
		if err := stopNode(); err != nil {
			fmt.Println("stopping the server:", err)
		}
	}
	for _, host := range []string{"127.0.0.1", "127.0.1.1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			stop()
			return nil, err
		}
		listeners = append(listeners, l)
		go forward(l, address)
	}
	return stop, nil
}

// forward copies the bytes of each accepted connection to and from the address, until the listener is closed.
func forward(listener net.Listener, address string) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer client.Close()
			server, err := net.Dial("tcp", address)
			if err != nil {
				return
			}
			defer server.Close()
			go func() {
				_, _ = io.Copy(server, client) // an end of either side ends both
				server.Close()
			}()
			_, _ = io.Copy(client, server)
		}()
	}
}
