// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// An api is one of the three APIs.
type api struct {
	name     string   // of the compat module
	module   string   // path that programs import
	title    string   // in messages
	packages []string // packages of the compat module below the path
}

var (
	v1 = &api{name: "gocql", module: "github.com/gocql/gocql", title: "gocql v1"}
	v2 = &api{
		name: "gocqlv2", module: "github.com/apache/cassandra-gocql-driver/v2", title: "gocql v2",
		packages: []string{"gocqlzap", "gocqlzerolog", "hostpool", "lz4", "snappy"},
	}
	fork = &api{
		name: "scyllagocql", module: "github.com/gocql/gocql", title: "ScyllaDB's fork of gocql",
		packages: []string{"events", "hostpolicy", "scyllacloud", "tablets"},
	}
	apis = []*api{v1, v2, fork}
)

// A rule describes what differs where a program uses a name.
type rule struct {
	text string
	only []*api // nil means all that have the name
	when condition
}

const (
	retries = "differs: a request that may have been executed is sent again only if it is idempotent: a SELECT, or marked " +
		"by Idempotent(true) or ClusterConfig.DefaultIdempotence"
	verified = "differs: the server's certificate is verified. To keep it unverified, set Config to a tls.Config with " +
		"InsecureSkipVerify"
	noConviction = "no effect: a node is down when no connection to it takes requests"
	noConn       = "absent in effect: the type exists, but no function takes or returns one"
	noReady      = "no effect: a session is ready one second after its first node was reached, or when all nodes were tried"
	oldProtocol  = "differs: versions 1 to 3 of the protocol are taken for 4, which every supported server has"
	reused       = "differs: each row has memory of its own. gocql overwrites the bytes of the row before, so a copy made " +
		"because of that is not needed"
	absentPackage = "absent: the compat module has no such package"
)

// rules has the names by type, with fields and methods behind a dot.
var rules = map[string]rule{
	"ClusterConfig.RetryPolicy":           {text: retries, only: []*api{v1, fork}},
	"Query.RetryPolicy":                   {text: retries, only: []*api{v1, fork}},
	"Batch.RetryPolicy":                   {text: retries, only: []*api{v1, fork}},
	"ClusterConfig.ConvictionPolicy":      {text: noConviction},
	"ConvictionPolicy":                    {text: noConviction},
	"SimpleConvictionPolicy":              {text: noConviction},
	"ClusterConfig.MaxRoutingKeyInfo":     {text: "no effect: a prepared statement holds its routing key"},
	"ClusterConfig.WriteCoalesceWaitTime": {text: "no effect: frames that wait for a connection are written together, without a timer"},
	"ClusterConfig.WriteTimeout":          {text: "no effect: Timeout covers the write of a request"},
	"DialedHost.DisableCoalesce":          {text: "no effect: frames that wait for a connection are written together"},
	"TimeoutLimit":                        {text: "no effect: a connection that does not answer is replaced by its silence"},
	"Conn":                                {text: noConn},
	"ConnConfig":                          {text: noConn},
	"ConnErrorHandler":                    {text: noConn},
	"ConnReader":                          {text: noConn},
	"ReadyPolicy":                         {text: noReady, only: []*api{v2}},
	"SingleHostReadyPolicy":               {text: noReady, only: []*api{v2}},
	"ClusterConfig.ProtoVersion":          {text: oldProtocol, when: belowFour},
	"SslOptions":                          {text: verified, when: unverified},
	"Iter.Scan":                           {text: reused, when: scansOuterBytes},
	"Scanner.Scan":                        {text: reused, when: scansOuterBytes},
}

func (r rule) appliesTo(a *api) bool { return r.only == nil || slices.Contains(r.only, a) }
