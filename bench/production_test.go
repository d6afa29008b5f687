// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"log/slog"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/cql"
)

var services = []workload.ServiceDriver{
	{Name: "vecql", Scan: true, Open: openService(false)},
	{Name: "vecql-typed", Open: openService(true)},
}

func BenchmarkProduction(b *testing.B) {
	workload.Production(b, services)
	workload.ProductionCompressor(b, compressor)
	floorProduction(b)
}

func TestProduction(t *testing.T) { workload.CheckProduction(t, services, 3*workload.PageSize) }

type service struct {
	session
	insertTen *vecql.Statement[workload.SmallRow]
}

func openService(typed bool) func(addr string, setting workload.Setting) (workload.Service, error) {
	return func(addr string, setting workload.Setting) (workload.Service, error) {
		return connectService(addr, setting, typed)
	}
}

func connectService(addr string, setting workload.Setting, typed bool) (s *service, err error) {
	s = &service{}
	cfg := &vecql.ClusterConfig{Hosts: []string{addr}}
	cfg.Protocol.Version, cfg.Pool.NumConns, cfg.Defaults.Consistency = setting.Version, setting.Conns, cql.One
	cfg.Logger, cfg.TLS = slog.New(slog.DiscardHandler), setting.TLS
	if setting.Dialer != nil {
		cfg.Pool.Dialer = setting.Dialer
	}
	cfg.Defaults.RequestTimeout = setting.Timeout
	if setting.LZ4 {
		cfg.Compressor = vecql.LZ4Compressor{}
	}
	if s.Session, err = vecql.NewSession(context.Background(), *cfg); err != nil || !typed {
		return s, err
	}
	if err = s.prepare(); err == nil {
		s.insertTen, err = vecql.Prepare[workload.SmallRow](context.Background(), s.Query(workload.InsertTen))
	}
	return s, err
}

func (s *service) InsertTen(ctx context.Context, r *workload.SmallRow) error {
	if s.insertTen != nil {
		return s.insertTen.Exec(ctx, r)
	}
	return s.insertTenValues(ctx, r)
}

func (s *service) insertTenValues(ctx context.Context, r *workload.SmallRow) error {
	return s.Query(workload.InsertTen, r.ID, r.Age, r.Name, r.Active, r.Price, r.Created, cql.UUID(r.Parent), r.Score, r.Level,
		r.Note).Exec(ctx)
}

func (s *service) InsertVectorFor(ctx context.Context, id [16]byte, v []float32) error {
	if s.insertVector != nil {
		item := vectorItems.Get().(*vectorItem)
		defer vectorItems.Put(item)
		item.ID, item.V = id, v
		return s.insertVector.Exec(ctx, item)
	}
	return s.Query(workload.InsertVector, cql.UUID(id), v).Exec(ctx)
}

func (s *service) ReadVectorFor(ctx context.Context, id [16]byte) (r workload.VectorRow, err error) {
	if s.readVector != nil {
		key, got := ids.Get().(*cql.UUID), ids.Get().(*cql.UUID)
		defer ids.Put(key)
		defer ids.Put(got)
		*key = id
		err = s.readVector.Scan(ctx, key, got, &r.V)
		r.ID = *got
		return r, err
	}
	var got cql.UUID
	err = s.Query(workload.ReadVector, cql.UUID(id)).Scan(ctx, &got, &r.V)
	r.ID = got
	return r, err
}

// compressor is the LZ4 of vecql, which compresses frames of a batch together.
var compressor = workload.Compressor{
	Driver: "vecql", InFlights: []int{1, 16, 256},
	Compress: vecql.LZ4Compressor{}.AppendCompressed, Decompress: vecql.LZ4Compressor{}.AppendDecompressed,
}

// floorProduction measures bare sockets, with TLS and without it.
func floorProduction(b *testing.B) {
	for _, bare := range workload.Bares() {
		b.Run(bare.Name, func(b *testing.B) {
			s := dialFloor(b, 5)
			if bare.TLS {
				s = dialFloorTLS(b, 5)
			}
			prepared := s.prepare(b, bare.Text)
			if bare.Scan {
				workload.MeasureRequests(b, func() error { return s.scan(prepared, b.N) })
				return
			}
			var frames []byte
			for i := range bare.InFlight {
				frames = append(frames, s.execute(i, prepared, bare.Values(i), nil)...)
			}
			workload.MeasureRequests(b, func() error { return s.roundTrips(b.N, bare.InFlight, bare.Answer, frames) })
		})
	}
}
