// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/vecql/vecql/tests/cassandra"
)

// startServer starts a Cassandra node and forwards 127.0.0.1:9042 to it, the address that most tests have as default.
// The returned function stops both.
func startServer(ctx context.Context) (stop func(), err error) {
	cluster, err := cassandra.Start(ctx, cassandra.Options{})
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(cassandra.Port)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		_ = cluster.Close() // the first error counts
		return nil, err
	}
	go forward(listener, net.JoinHostPort(cluster.Hosts()[0], port))
	return func() {
		listener.Close()
		if err := cluster.Close(); err != nil {
			fmt.Println("stopping Cassandra:", err)
		}
	}, nil
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
