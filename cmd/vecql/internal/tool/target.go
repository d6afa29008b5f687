// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
)

// The second cluster of copy and verify.

// A targetCluster is the flags of a second cluster.
type targetCluster struct {
	profile string
	hosts   []string
}

// isSet reports whether the flags name a second cluster.
func (t *targetCluster) isSet() bool { return t.profile != "" || len(t.hosts) > 0 }

// addTargetFlags defines a verb's flags of a second cluster.
func (e *env) addTargetFlags(c *cobra.Command, t *targetCluster) {
	c.Flags().StringVar(&t.profile, "to-profile", "", "profile `name` of the cluster of the target; default the cluster of the source")
	c.Flags().StringSliceVar(&t.hosts, "to-hosts", nil, "contact points of the cluster of the target, `host[:port],...`")
	must(c.RegisterFlagCompletionFunc("to-profile", e.completeProfiles))
}

// connectBoth opens a session with the cluster of the flags, and one with the second cluster, which may be the same.
func (e *env) connectBoth(ctx context.Context, t targetCluster) (source, target *vecql.Session, end func(), err error) {
	if source, err = e.connect(ctx); err != nil {
		return nil, nil, nil, err
	}
	if !t.isSet() {
		return source, source, source.Close, nil
	}
	cfg, err := e.otherConfig(t.profile, t.hosts)
	if err == nil {
		target, err = e.open(ctx, cfg)
	}
	if err != nil {
		source.Close()
		return nil, nil, nil, err
	}
	return source, target, func() { source.Close(); target.Close() }, nil
}

// openBoth finds a table of each cluster, with sessions of connectBoth. The tables must differ. end closes the
// sessions.
func (e *env) openBoth(ctx context.Context, t targetCluster, from, to string,
) (tables [2]clustertable.Table, end func(), err error) {
	source, target, end, err := e.connectBoth(ctx, t)
	if err != nil {
		return tables, nil, err
	}
	if tables[0], err = findTable(ctx, source, from); err == nil {
		tables[1], err = findTable(ctx, target, to)
	}
	if err == nil && tables[0].Metadata.Id == tables[1].Metadata.Id && tables[0].Name() == tables[1].Name() {
		err = usageError{errors.New("source and target are one table: name another one, or --to-hosts or --to-profile")}
	}
	if err != nil {
		end()
	}
	return tables, end, err
}
