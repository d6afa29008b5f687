// SPDX-License-Identifier: Apache-2.0

package beamvecql_test

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/debug"

	"github.com/vecql/vecql/beamvecql"
	"github.com/vecql/vecql/groupby"
)

// The program of README.md.

var centroids = beamvecql.RegisterGroups("nightly", groupby.Config{
	Keys:       groupby.By("label"),
	Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("embedding").As("centroid")},
})

// run runs the pipeline. main calls beam.Init before.
func run(ctx context.Context, cluster string) error {
	p, s := beam.NewPipelineWithRoot()
	items := beamvecql.Read(s, cluster, "SELECT label, embedding FROM shop.items", beamvecql.ReadOptions{})
	groups := beamvecql.GroupBy(s, centroids, items)
	_, rejected := beamvecql.Write(s, cluster, "shop.centroids", groups, beamvecql.WriteOptions{})
	debug.Print(s, rejected)
	return beamx.Run(ctx, p)
}

var _ = run // with a cluster of the reader's
