// SPDX-License-Identifier: Apache-2.0

//go:build !fork

package apache2

import (
	"context"
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"

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
	Driver: driver, InFlights: []int{1}, Compress: lz4.LZ4Compressor{}.AppendCompressed,
	Decompress: func(dst, src []byte, size int) ([]byte, error) {
		return lz4.LZ4Compressor{}.AppendDecompressed(dst, src, uint32(size))
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
		cfg.Compressor = lz4.LZ4Compressor{}
	}
	if noWait {
		cfg.WriteCoalesceWaitTime = 0
	}
	s, err := cfg.CreateSession()
	return service{session{s}}, err
}

func (s service) InsertTen(ctx context.Context, r *workload.SmallRow) error {
	return s.Query(workload.InsertTen, r.ID, r.Age, r.Name, r.Active, r.Price, r.Created, gocql.UUID(r.Parent), r.Score, r.Level,
		r.Note).ExecContext(ctx)
}

func (s service) InsertVectorFor(ctx context.Context, id [16]byte, v []float32) error {
	return s.Query(workload.InsertVector, gocql.UUID(id), v).ExecContext(ctx)
}

func (s service) ReadVectorFor(ctx context.Context, id [16]byte) (r workload.VectorRow, err error) {
	var got gocql.UUID
	err = s.Query(workload.ReadVector, gocql.UUID(id)).ScanContext(ctx, &got, &r.V)
	r.ID = got
	return r, err
}
