// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// GroupBy: a CombineFn whose accumulators are partials of package groupby.

func init() {
	beam.RegisterCoder(reflect.TypeFor[*accumulator](), encodeAccumulator, decodeAccumulator)
	beam.RegisterType(reflect.TypeFor[groupFn]())
	beam.RegisterDoFn(&shardFn{})
}

// ErrGroups means that a worker has no Groups of a name: they were not registered in an init function.
var ErrGroups = errors.New("beamvecql: no groups are registered under this name")

// Groups are a registered groupby.Config.
type Groups struct{ name string }

var groupConfigs sync.Map // name to groupby.Config

// RegisterGroups registers keys and aggregates under a name, so that workers have them: an Aggregate is code, which a
// pipeline cannot contain. Call it in the initialization of a package:
//
//	var centroids = beamvecql.RegisterGroups("centroids", groupby.Config{
//		Keys:       groupby.By("label"),
//		Aggregates: []groupby.Aggregate{groupby.Count(), groupby.Mean("embedding").As("centroid")},
//		Order:      groupby.Descending("count"), Limit: 10,
//	})
//
// It panics if the configuration is invalid or the name is taken.
func RegisterGroups(name string, config groupby.Config) Groups {
	g, err := config.New()
	if err != nil {
		panic(fmt.Sprintf("beamvecql: register groups %q: %v", name, err))
	}
	g.Close()
	if _, taken := groupConfigs.LoadOrStore(name, config); taken {
		panic(fmt.Sprintf("beamvecql: register groups %q: the name is taken", name))
	}
	return Groups{name}
}

// config returns the configuration of groups.
func (g Groups) config() (groupby.Config, error) {
	config, ok := groupConfigs.Load(g.name)
	if !ok {
		return groupby.Config{}, fmt.Errorf("%w: %q: call RegisterGroups in the initialization of a package of the program",
			ErrGroups, g.name)
	}
	return config.(groupby.Config), nil
}

// GroupBy groups and aggregates a PCollection<*column.Batch>. It returns a PCollection<*column.Batch> with one batch,
// which groupby's Finish has made: the keys, then a column for each aggregate, in the Order of the configuration and
// with its Limit. Workers aggregate their rows first; what they exchange are states of groups. One worker merges them,
// and holds the groups in memory; [GroupByShards] divides them.
//
// Batches of [Read] have no order, so that groupby.FirstAppearance and aggregates of the first rows have any of the
// possible results. Batches of [ReadParquet] have numbers of rows, so that the result equals the result of one
// machine.
func GroupBy(s beam.Scope, groups Groups, batches beam.PCollection) beam.PCollection {
	s = s.Scope("beamvecql.GroupBy")
	return beam.Combine(s, &groupFn{Groups: groups.name}, batches)
}

// GroupByShards groups as GroupBy does, and divides the groups among n workers by the hash of their keys: the result is
// up to n batches. Order and Limit of the configuration apply to each batch.
func GroupByShards(s beam.Scope, groups Groups, n int, batches beam.PCollection) beam.PCollection {
	s = s.Scope("beamvecql.GroupByShards")
	sharded := beam.ParDo(s, &shardFn{Groups: groups.name, Shards: n}, batches)
	return beam.DropKey(s, beam.CombinePerKey(s, &groupFn{Groups: groups.name}, sharded))
}

// An accumulator holds groups with their states, encoded or in a Grouper. At most one of its fields is set; the zero
// value has no groups.
type accumulator struct {
	grouper *groupby.Grouper
	worker  *groupby.Worker // of grouper
	partial []byte
}

// open makes the Grouper of the accumulator, with its groups.
func (a *accumulator) open(fn *groupFn) error {
	if a.grouper != nil {
		return nil
	}
	config, err := Groups{fn.Groups}.config()
	if err != nil {
		return err
	}
	g, err := config.New()
	if err != nil {
		return err
	}
	if len(a.partial) > 0 {
		if err := g.MergePartial(bytes.NewReader(a.partial)); err != nil {
			return err
		}
	}
	a.grouper, a.worker, a.partial = g, g.Worker(), nil
	return nil
}

// close encodes the groups, which frees the Grouper.
func (a *accumulator) close() error {
	if a.grouper == nil {
		return nil
	}
	var b bytes.Buffer
	g := a.grouper
	a.grouper, a.worker = nil, nil
	if err := g.WritePartial(&b); err != nil {
		return err
	}
	a.partial = b.Bytes()
	return nil
}

// encodeAccumulator returns the partial of an accumulator: the format of groupby.Grouper.WritePartial, or no bytes if
// it has no groups.
func encodeAccumulator(a *accumulator) ([]byte, error) {
	if err := a.close(); err != nil {
		return nil, fmt.Errorf("beamvecql: encode groups: %w", err)
	}
	return a.partial, nil
}

// decodeAccumulator returns an accumulator with a copy of an encoded one. The groups are checked when they are merged.
func decodeAccumulator(data []byte) (*accumulator, error) {
	return &accumulator{partial: bytes.Clone(data)}, nil
}

// groupFn combines batches to groups.
type groupFn struct {
	Groups string // a name of RegisterGroups
}

// CreateAccumulator returns an accumulator without groups.
func (*groupFn) CreateAccumulator() *accumulator { return &accumulator{} }

// AddInput adds the rows of a batch.
func (fn *groupFn) AddInput(a *accumulator, b *column.Batch) (*accumulator, error) {
	err := a.open(fn)
	if err == nil && len(b.Columns) > 0 {
		err = a.worker.Add(context.Background(), b)
	}
	if err != nil {
		return nil, fmt.Errorf("beamvecql: group by %q: %w", fn.Groups, err)
	}
	return a, nil
}

// MergeAccumulators merges the groups of b into a.
func (fn *groupFn) MergeAccumulators(a, b *accumulator) (*accumulator, error) {
	if a.empty() {
		return b, nil
	}
	err := b.close()
	if err == nil && len(b.partial) > 0 {
		if err = a.open(fn); err == nil {
			err = a.grouper.MergePartial(bytes.NewReader(b.partial))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("beamvecql: merge groups of %q: %w", fn.Groups, err)
	}
	return a, nil
}

// empty reports whether the accumulator has no groups.
func (a *accumulator) empty() bool { return a.grouper == nil && len(a.partial) == 0 }

// ExtractOutput returns the result. The accumulator cannot be used afterwards.
func (fn *groupFn) ExtractOutput(a *accumulator) (*column.Batch, error) {
	err := a.open(fn)
	var b *column.Batch
	if err == nil {
		b, err = a.grouper.Finish(context.Background())
	}
	if err != nil {
		return nil, fmt.Errorf("beamvecql: finish groups of %q: %w", fn.Groups, err)
	}
	return b, nil
}
