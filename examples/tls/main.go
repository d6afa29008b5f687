// SPDX-License-Identifier: Apache-2.0

// Command tls connects by TLS with a client certificate.
//
//	go run ./examples/tls [-ca ca.pem] [-cert client.pem] [-key client-key.pem] [-name db.example] [host:port ...]
//
// Without hosts it starts a cluster in its own process, with certificates that it makes. Then it prints:
//
//	connected to version 5.0.9
//	wrong authority: x509: certificate signed by unknown authority
//	wrong name: x509: certificate is valid for db.example, not other.example
//	no client certificate: refused by the node
//
// In production, the certificate of a node is for its name or address, and -name is left out: the driver verifies the
// name of a contact point, and the address of a node that it found. GetClientCertificate renews a certificate.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/vecql/vecql"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("tls", flag.ContinueOnError)
	ca := flags.String("ca", "", "`file` with the certificate of the authority of the nodes; default the authorities of the system")
	cert := flags.String("cert", "", "`file` with the client certificate; default none")
	key := flags.String("key", "", "`file` with the key of the client certificate")
	name := flags.String("name", "", "`name` in the certificates of the nodes; default their names or addresses")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return local(ctx, out)
	}
	config, err := fromFiles(*ca, *cert, *key)
	if err != nil {
		return err
	}
	config.ServerName = *name
	return connect(ctx, flags.Args(), config, out)
}

// connect opens a session and sends a request.
func connect(ctx context.Context, hosts []string, config *tls.Config, out io.Writer) error {
	cluster := &vecql.ClusterConfig{Hosts: hosts}
	cluster.TLS = config
	cluster.Logger = slog.New(slog.DiscardHandler) // the error has all that is to be known
	session, err := vecql.NewSession(ctx, *cluster)
	if err != nil {
		return err
	}
	defer session.Close()
	version, err := vecql.OneRow[string](ctx, session.Query("SELECT release_version FROM system.local"))
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "connected to version", version)
	return nil
}

// fromFiles returns the configuration of a client whose certificates are PEM files.
func fromFiles(ca, cert, key string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS13}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate", ca)
		}
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
