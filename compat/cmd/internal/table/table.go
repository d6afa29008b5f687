// SPDX-License-Identifier: Apache-2.0

// Package table has the three APIs that the compat modules stand for, and by name what differs on a compat module,
// which gocqlcheck reports for a program. docs/gocql/differences.md is written from it.
package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// An API is one of the three APIs.
type API struct {
	Name     string   // of the folder under compat
	Module   string   // path that programs import
	Source   string   // module and version, as the go command fetches it
	Title    string   // in messages
	Packages []string // packages of the compat module below the path
}

// The three APIs.
var (
	V1 = &API{
		Name: "gocql", Module: "github.com/gocql/gocql", Title: "gocql v1",
		Source: "github.com/gocql/gocql@v1.7.0",
	}
	V2 = &API{
		Name: "gocqlv2", Module: "github.com/apache/cassandra-gocql-driver/v2", Title: "gocql v2",
		Source:   "github.com/apache/cassandra-gocql-driver/v2@v2.1.2",
		Packages: []string{"gocqlzap", "gocqlzerolog", "hostpool", "lz4", "snappy"},
	}
	Fork = &API{
		Name: "scyllagocql", Module: "github.com/gocql/gocql", Title: "ScyllaDB's fork of gocql",
		Source:   "github.com/scylladb/gocql@v1.19.0",
		Packages: []string{"events", "hostpolicy", "scyllacloud", "tablets"},
	}
	All = []*API{V1, V2, Fork}
)

// Owns reports whether the import path is of the API's module.
func (a *API) Owns(path string) bool {
	return path == a.Module || strings.HasPrefix(path, a.Module+"/")
}

// Fetch returns the folder of the API's source, which the go command fetches to its cache of modules.
func (a *API) Fetch() (dir string, err error) {
	cmd := exec.Command("go", "mod", "download", "-json", a.Source)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	err = errors.Join(err, json.Unmarshal(out, &m))
	if m.Error != "" {
		err = errors.New(m.Error)
	}
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", a.Source, err)
	}
	return m.Dir, nil
}

// A Rule describes what differs on a compat module where a program uses a name.
type Rule struct {
	Text  string
	Only  []*API // nil means all that have the name
	Quiet bool   // in the pages only: nearly every program uses the name, and few notice
}

// AppliesTo reports whether the rule describes the API.
func (r Rule) AppliesTo(a *API) bool { return r.Only == nil || slices.Contains(r.Only, a) }

const (
	retries = "differs: a request that may have been executed is sent again only if it is idempotent: a SELECT, or marked " +
		"by Idempotent(true) or ClusterConfig.DefaultIdempotence"
	verified = "differs: the server's certificate is verified. To keep it unverified, set Config to a tls.Config with " +
		"InsecureSkipVerify"
	noConviction  = "no effect: a node is down when no connection to it takes requests"
	noConn        = "absent in effect: the type exists, but no function takes or returns one"
	noReady       = "no effect: a session is ready one second after its first node was reached, or when all nodes were tried"
	noEffectBus   = "no effect: a subscriber has the queue that SubscribeToEvents names"
	noDriverName  = "no effect: a server sees the name and version of vecql"
	noShards      = "zero: vecql chooses the shards. Stats of Vecql() has the connections of each shard"
	routes        = "differs: only the connection ids of the endpoints have an effect. The Dialer resolves the names in the table"
	noRoutes      = "refused: vecql follows client routes itself. Set ClusterConfig.ClientRoutesConfig"
	noOldMetadata = "empty: servers since Cassandra 3 have none"
	prepares      = "differs: also called for the PREPARE of a statement, before its routing key is known, so that no node outside " +
		"of the policy receives one. gocql sends PREPARE to the node picked for the request, and to any node when Pick " +
		"calls GetRoutingKey"
	oldProtocol = "differs: versions 1 to 3 of the protocol are taken for 4, which every supported server has"
	reused      = "differs: each row has memory of its own. gocql overwrites the bytes of the row before, so a copy made " +
		"because of that is not needed"

	// AbsentPackage is what differs where a program imports a package that a compat module has not.
	AbsentPackage = "absent: the compat module has no such package"
)

// Rules has the names by type, with fields and methods behind a dot.
var Rules = map[string]Rule{
	"ClusterConfig.RetryPolicy":           {Text: retries, Only: []*API{V1, Fork}},
	"Query.RetryPolicy":                   {Text: retries, Only: []*API{V1, Fork}},
	"Batch.RetryPolicy":                   {Text: retries, Only: []*API{V1, Fork}},
	"ClusterConfig.ConvictionPolicy":      {Text: noConviction},
	"ConvictionPolicy":                    {Text: noConviction},
	"SimpleConvictionPolicy":              {Text: noConviction},
	"ClusterConfig.MaxRoutingKeyInfo":     {Text: "no effect: a prepared statement holds its routing key"},
	"ClusterConfig.WriteCoalesceWaitTime": {Text: "no effect: frames that wait for a connection are written together, without a timer"},
	"ClusterConfig.WriteTimeout":          {Text: "no effect: Timeout covers the write of a request"},
	"DialedHost.DisableCoalesce":          {Text: "no effect: frames that wait for a connection are written together"},
	"TimeoutLimit":                        {Text: "no effect: a connection that does not answer is replaced by its silence"},
	"Conn":                                {Text: noConn},
	"ConnConfig":                          {Text: noConn},
	"ConnErrorHandler":                    {Text: noConn},
	"ConnReader":                          {Text: noConn},
	"ReadyPolicy":                         {Text: noReady},
	"SingleHostReadyPolicy":               {Text: noReady},
	"ClusterConfig.ProtoVersion":          {Text: oldProtocol},
	"SslOptions":                          {Text: verified},
	"Iter.Scan":                           {Text: reused},
	"Scanner.Scan":                        {Text: reused},

	"HostSelectionPolicy.Pick":     {Text: prepares},
	"Session.Close":                {Text: "differs: waits for the requests in flight, at most 11 seconds", Quiet: true},
	"ClusterConfig.IgnorePeerAddr": {Text: "no effect, as in gocql, which does not read it"},

	"TableMetadata.ColumnAliases":    {Text: noOldMetadata, Only: []*API{V2}},
	"TableMetadata.Comparator":       {Text: noOldMetadata, Only: []*API{V2}},
	"TableMetadata.DefaultValidator": {Text: noOldMetadata, Only: []*API{V2}},
	"TableMetadata.KeyAliases":       {Text: noOldMetadata, Only: []*API{V2}},
	"TableMetadata.KeyValidator":     {Text: noOldMetadata, Only: []*API{V2}},
	"TableMetadata.ValueAlias":       {Text: noOldMetadata, Only: []*API{V2}},
	"RegisteredTypes": {
		Text: "differs: types serve classes of the server that vecql does not decode, as types of columns, not of elements",
		Only: []*API{V2},
	},

	"ClientRoutesConfig":                          {Text: routes},
	"ClusterConfig.ClientRoutesConfig":            {Text: routes},
	"ClusterConfig.DisableDriverConfigReporting":  {Text: "no effect: vecql does not report its configuration"},
	"ClusterConfig.DriverName":                    {Text: noDriverName},
	"ClusterConfig.DriverVersion":                 {Text: noDriverName},
	"ClusterConfig.EventBusConfig":                {Text: noEffectBus},
	"ClusterConfig.MaxExcessShardConnectionsRate": {Text: "no effect: vecql chooses the shard by the local port"},
	"ClusterConfig.MetadataSchemaRequestTimeout":  {Text: "no effect: Timeout covers requests for the schema"},
	"ClusterConfig.ReadTimeout":                   {Text: "no effect: Timeout covers the response of a request"},
	"ConnPicker":                                  {Text: noConn},
	"HostInfo.ScyllaFeatures":                     {Text: noShards},
	"HostInfo.ScyllaShardAwarePort":               {Text: noShards},
	"HostInfo.ScyllaShardAwarePortTLS":            {Text: noShards},
	"HostInfo.ScyllaShardCount":                   {Text: noShards},
	"KeyspaceMetadata.ToCQL":                      {Text: "differs: needs a server that can describe a keyspace"},
	"NewClientRoutesAddressTranslator":            {Text: noRoutes},
	"Session.SubscribeToEvents": {Text: "differs: has the events of nodes, not of the schema, for which vecql would read " +
		"the whole schema"},
	"Session.TabletsMetadata": {Text: "differs: has the tablets that the session learned from responses"},
	"ShardDialer.DialShard":   {Text: "absent in effect: a ShardDialer is used as a HostDialer"},
	"WarningHandler":          {Text: "differs: receives the warnings of the first page"},
	"WithClientRoutes":        {Text: routes},
}

// Has reports whether the package has the name: a declaration, or a field or method behind a dot.
func Has(p *types.Package, name string) bool {
	first, members, _ := strings.Cut(name, ".")
	o := p.Scope().Lookup(first)
	for member := range strings.SplitSeq(members, ".") {
		if o == nil || member == "" {
			break
		}
		o, _, _ = types.LookupFieldOrMethod(o.Type(), true, p, member)
	}
	return o != nil
}
