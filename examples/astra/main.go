// SPDX-License-Identifier: Apache-2.0

// Command astra connects to a database of DataStax Astra by its secure connect bundle. astra.go has the HostDialer.
//
//	ASTRA_TOKEN=AstraCS:... go run ./examples/astra secure-connect-shop.zip
//
// Without a bundle it starts a cluster in its own process, behind a proxy, and writes a bundle for it. Then it prints:
//
//	connected to cndb-eu-west-1, 3 nodes
package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Getenv("ASTRA_TOKEN"), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, token string, out io.Writer) error {
	if len(args) == 0 {
		return local(ctx, out)
	}
	bundle, err := zip.OpenReader(args[0])
	if err != nil {
		return err
	}
	defer bundle.Close()
	a, err := openBundle(ctx, bundle)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	session, err := vecql.NewSession(ctx, a.config(token))
	if err != nil {
		return err
	}
	defer session.Close()
	name, err := vecql.OneRow[string](ctx, session.Query("SELECT data_center FROM system.local"))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "connected to %s, %d nodes\n", name, len(session.GetHosts()))
	return nil
}

// config returns the configuration of sessions. Tokens have the form AstraCS:...
func (a *astra) config(token string) vecql.ClusterConfig {
	config := vecql.ClusterConfig{Hosts: []string{a.info.Proxy}}
	config.Authenticator = vecql.PasswordAuthenticator{Username: "token", Password: token}
	config.HostSelectionPolicy = vecql.TokenAwarePolicy{Fallback: vecql.DCAwarePolicy{DataCenter: a.info.DataCenter}}
	config.Defaults.Consistency = cql.LocalQuorum
	config.Protocol.Version = 4
	config.Pool.HostDialer = a
	return config
}
