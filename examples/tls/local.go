// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/examples/internal/authority"
)

// A cluster in this process, with certificates of its own.

// local connects to a cluster in this process, as it should be and in three wrong ways.
func local(ctx context.Context, out io.Writer) error {
	ours, err1 := authority.New("shop authority")
	other, err2 := authority.New("other authority")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	node, err1 := ours.Issue("db.example")
	client, err2 := ours.Issue("shop")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	cluster, err := cqltest.Start(cqltest.Config{TLS: &tls.Config{
		Certificates: []tls.Certificate{node}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool(),
	}})
	if err != nil {
		return err
	}
	defer cluster.Close()
	right := &tls.Config{RootCAs: ours.Pool(), ServerName: "db.example", Certificates: []tls.Certificate{client}}
	if err := connect(ctx, cluster.Hosts(), right, out); err != nil {
		return err
	}
	for _, wrong := range []struct {
		what   string
		change func(c *tls.Config)
	}{
		{"wrong authority", func(c *tls.Config) { c.RootCAs = other.Pool() }},
		{"wrong name", func(c *tls.Config) { c.ServerName = "other.example" }},
		{"no client certificate", func(c *tls.Config) { c.Certificates = nil }},
	} {
		config := right.Clone()
		wrong.change(config)
		err := connect(ctx, cluster.Hosts()[:1], config, io.Discard)
		fmt.Fprintf(out, "%s: %s\n", wrong.what, reason(err))
	}
	return nil
}

// reason returns the cause of an error of connect.
func reason(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case err == nil:
		return "no error"
	case errors.As(err, &unknown):
		return unknown.Error()
	case errors.As(err, &name):
		return name.Error()
	default: // an alert of TLS if the node's last bytes arrive, else a closed connection
		return "refused by the node"
	}
}
