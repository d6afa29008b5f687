// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
)

var services = []workload.ServiceDriver{
	{Name: "vecql", Scan: true, Open: openService(false)},
	{Name: "vecql-typed", Open: openService(true)},
}

func BenchmarkProduction(b *testing.B) { workload.Production(b, services); floorProduction(b) }

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
	cfg := vecql.NewCluster(addr)
	cfg.ProtoVersion, cfg.NumConns, cfg.Consistency = setting.Version, setting.Conns, vecql.One
	cfg.Logger, cfg.TLS = slog.New(slog.DiscardHandler), setting.TLS
	if setting.Dialer != nil {
		cfg.Dialer = setting.Dialer
	}
	if setting.LZ4 {
		cfg.Compressor = vecql.LZ4Compressor{}
	}
	if s.Session, err = cfg.CreateSession(); err != nil || !typed {
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
	return s.Query(workload.InsertTen, r.ID, r.Age, r.Name, r.Active, r.Price, r.Created, vecql.UUID(r.Parent), r.Score, r.Level,
		r.Note).ExecContext(ctx)
}

func (s *service) InsertVectorFor(ctx context.Context, id [16]byte, v []float32) error {
	if s.insertVector != nil {
		item := vectorItems.Get().(*vectorItem)
		defer vectorItems.Put(item)
		item.ID, item.V = id, v
		return s.insertVector.Exec(ctx, item)
	}
	return s.Query(workload.InsertVector, vecql.UUID(id), v).ExecContext(ctx)
}

func (s *service) ReadVectorFor(ctx context.Context, id [16]byte) (r workload.VectorRow, err error) {
	if s.readVector != nil {
		key, got := ids.Get().(*vecql.UUID), ids.Get().(*vecql.UUID)
		defer ids.Put(key)
		defer ids.Put(got)
		*key = id
		err = s.readVector.Scan(ctx, key, got, &r.V)
		r.ID = *got
		return r, err
	}
	var got vecql.UUID
	err = s.Query(workload.ReadVector, vecql.UUID(id)).ScanContext(ctx, &got, &r.V)
	r.ID = got
	return r, err
}

// floorProduction measures bare sockets, with TLS and without it.
func floorProduction(b *testing.B) {
	id, vector := workload.Bytes(workload.InsertID), workload.VectorBytes(workload.InsertedVector)
	nets, inFlights := workload.FloorSettings()
	for _, op := range []struct {
		name, text string
		answer     int
		values     [][]byte
	}{
		{"insert-small", workload.InsertTen, 13, workload.InsertedSmall.Values()},
		{"insert-vector", workload.InsertVector, 13, [][]byte{id, vector}},
		{"read-vector", workload.ReadVector, 9 + 16 + 8 + len(id) + len(vector), [][]byte{id}},
	} {
		for _, net := range nets {
			for _, inFlight := range inFlights {
				name := fmt.Sprintf("driver=floor/op=%s/net=%s/compress=none/conns=1/deadline=none/version=5/inflight=%d", op.name, net, inFlight)
				b.Run(name, func(b *testing.B) {
					s := dialFloor(b, 5)
					if net == "tls" {
						s = dialFloorTLS(b, 5)
					}
					prepared := s.prepare(b, op.text)
					var frames []byte
					for i := range inFlight {
						frames = append(frames, s.execute(i, prepared, op.values, nil)...)
					}
					workload.MeasureRequests(b, func() error { return s.roundTrips(b.N, inFlight, op.answer, frames) })
				})
			}
		}
	}
}
