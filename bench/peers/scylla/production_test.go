// SPDX-License-Identifier: Apache-2.0

//go:build fork

package scylla

import (
	"context"
	"testing"

	"github.com/gocql/gocql"

	"github.com/vecql/vecql/bench/workload"
)

var services = []workload.ServiceDriver{
	{Name: driver, Scan: true, Open: openService(false)},
	{Name: driver + "-nowait", Few: true, Open: openService(true)},
}

func BenchmarkProduction(b *testing.B) {
	workload.Production(b, services)
	workload.ProductionCompressor(b, compressor)
}

func TestProduction(t *testing.T) { workload.CheckProduction(t, services, 100) }

// compressor is the LZ4 of the driver, which compresses each frame by itself.
var compressor = workload.Compressor{
	Driver: driver, InFlights: []int{1}, Compress: lz4Compressor{}.AppendCompressed,
	Decompress: func(dst, src []byte, size int) ([]byte, error) {
		return lz4Compressor{}.AppendDecompressed(dst, src, uint32(size))
	},
}

type service struct{ session }

func openService(noWait bool) func(addr string, setting workload.Setting) (workload.Service, error) {
	return func(addr string, setting workload.Setting) (workload.Service, error) {
		return connectService(addr, setting, noWait)
	}
}

func connectService(addr string, setting workload.Setting, noWait bool) (workload.Service, error) {
	cfg := gocql.NewCluster(addr)
	cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = setting.Version, setting.Conns, gocql.One
	cfg.Logger, cfg.Dialer = silent{}, setting.Dialer
	if setting.TLS != nil {
		cfg.SslOpts = &gocql.SslOptions{Config: setting.TLS, EnableHostVerification: true}
	}
	if setting.Timeout > 0 {
		cfg.Timeout = setting.Timeout
	}
	if setting.LZ4 {
		cfg.Compressor = lz4Compressor{}
	}
	if noWait {
		cfg.WriteCoalesceWaitTime = 0
	}
	s, err := cfg.CreateSession()
	return service{session{s}}, err
}

// query returns a query that the caller releases. A context without an end is the default, and costs a copy of the
// query.
func (s service) query(ctx context.Context, stmt string, values ...any) *gocql.Query {
	q := s.Query(stmt, values...)
	if ctx.Done() == nil {
		return q
	}
	return q.WithContext(ctx)
}

func (s service) InsertTen(ctx context.Context, r *workload.SmallRow) error {
	q := s.query(ctx, workload.InsertTen, r.ID, r.Age, r.Name, r.Active, r.Price, r.Created, gocql.UUID(r.Parent), r.Score, r.Level,
		r.Note)
	defer q.Release()
	return q.Exec()
}

func (s service) InsertVectorFor(ctx context.Context, id [16]byte, v []float32) error {
	q := s.query(ctx, workload.InsertVector, gocql.UUID(id), v)
	defer q.Release()
	return q.Exec()
}

func (s service) ReadVectorFor(ctx context.Context, id [16]byte) (r workload.VectorRow, err error) {
	var got gocql.UUID
	q := s.query(ctx, workload.ReadVector, gocql.UUID(id))
	defer q.Release()
	err = q.Scan(&got, &r.V)
	r.ID = got
	return r, err
}
