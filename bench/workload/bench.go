// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// Driver is a driver, or one way to use it.
type Driver struct {
	Name     string
	Versions []int    // of the protocol
	Vectors  bool     // whether it knows vectors
	Only     []string // the benchmarks it takes part in; nil: all
	Open     func(addr string, version int) (Session, error)
}

// Session is one connection to one node: consistency ONE, no compression, everything else as the driver's defaults are.
type Session interface {
	InsertVector(id [16]byte, v []float32) error
	InsertSmall(k, v int64) error
	InsertMixed(r *MixedRow) error
	// ReadVector reads the row into memory of its own.
	ReadVector(id [16]byte) (VectorRow, error)
	// Scan reads rows of one of the three kinds, at most limit of pages pages, checks them if told so, and returns their number.
	Scan(rows string, pages, limit int, check bool) (int, error)
	// Codec returns how the driver encodes and decodes the case's value.
	Codec(c *Case) (Codec, error)
	Close()
}

// Codec is the codec of one value.
type Codec struct {
	Marshal func() ([]byte, error)
	Fresh   func() error // unmarshals into memory that is new
	Reused  func() error // unmarshals into what it unmarshalled into before, where the driver has a way to
	Same    func() bool  // whether what was unmarshalled last is the value
}

var inFlights = []int{1, 16, 256}

func (d *Driver) takesPart(name string) bool { return d.Only == nil || slices.Contains(d.Only, name) }

func (d *Driver) open(b *testing.B, version int) Session {
	b.Helper()
	s, err := d.Open(Addr(b), version)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// Marshal encodes vectors.
func Marshal(b *testing.B, drivers []Driver) {
	codecs(b, "Marshal", drivers, true, func(b *testing.B, prefix string, c *Case, codec Codec) {
		b.Run(prefix+"/"+c.Name(), func(b *testing.B) { marshal(b, c, codec) })
	})
}

// Unmarshal decodes vectors.
func Unmarshal(b *testing.B, drivers []Driver) {
	codecs(b, "Unmarshal", drivers, true, func(b *testing.B, prefix string, c *Case, codec Codec) {
		if codec.Fresh != nil {
			b.Run(prefix+"/"+c.Name()+"/into=fresh", func(b *testing.B) { unmarshal(b, c, codec, codec.Fresh) })
		}
		if codec.Reused != nil {
			b.Run(prefix+"/"+c.Name()+"/into=reused", func(b *testing.B) { unmarshal(b, c, codec, codec.Reused) })
		}
	})
}

// Collection encodes and decodes lists and maps.
func Collection(b *testing.B, drivers []Driver) {
	codecs(b, "Collection", drivers, false, func(b *testing.B, prefix string, c *Case, codec Codec) {
		b.Run(prefix+"/"+c.Name()+"/op=marshal", func(b *testing.B) { marshal(b, c, codec) })
		b.Run(prefix+"/"+c.Name()+"/op=unmarshal", func(b *testing.B) { unmarshal(b, c, codec, codec.Fresh) })
	})
}

func codecs(b *testing.B, name string, drivers []Driver, vectors bool, run func(b *testing.B, prefix string, c *Case, codec Codec)) {
	for _, d := range drivers {
		if vectors && !d.Vectors || !d.takesPart(name) {
			continue
		}
		s := d.open(b, d.Versions[0])
		for _, c := range Cases() {
			if (c.Dim > 0) != vectors {
				continue
			}
			codec, err := s.Codec(c)
			if err != nil {
				b.Fatal(d.Name, c.Name(), err)
			}
			if codec.Same != nil {
				run(b, "driver="+d.Name, c, codec)
			}
		}
	}
}

func marshal(b *testing.B, c *Case, codec Codec) {
	if codec.Marshal == nil {
		b.Skip("no way to do this")
	}
	got, err := codec.Marshal()
	_, isMap := c.Value.(map[string]int) // its order is free
	if err != nil || !isMap && !bytes.Equal(got, c.Data) || len(got) != len(c.Data) {
		b.Fatalf("%d bytes of %d, or other ones: %v", len(got), len(c.Data), err)
	}
	b.SetBytes(int64(len(c.Data)))
	Measure(b, func() error {
		for range b.N {
			if _, err := codec.Marshal(); err != nil {
				return err
			}
		}
		return nil
	})
}

func unmarshal(b *testing.B, c *Case, codec Codec, f func() error) {
	for range 2 { // the second one may use what the first one left
		if err := f(); err != nil || !codec.Same() {
			b.Fatal("another value: ", err)
		}
	}
	b.SetBytes(int64(len(c.Data)))
	Measure(b, func() error {
		for range b.N {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Insert inserts rows of (uuid, vector<float, 1536>), of (bigint, bigint), and of twenty columns. The server compares the first ones.
func Insert(b *testing.B, drivers []Driver) {
	for _, row := range []string{"vector", "small", "mixed"} {
		requests(b, "Insert", drivers, row == "vector", "/row="+row, func(s Session) (func() error, int) {
			switch row {
			case "small":
				return func() error { return s.InsertSmall(SmallKey, SmallValue) }, 16
			case "mixed":
				return func() error { return s.InsertMixed(InsertedMixed) }, len(InsertedMixed.cells(nil))
			}
			return func() error { return s.InsertVector(InsertID, InsertedVector) }, 16 + 4*Dim
		})
	}
}

// ReadRow reads one row of (uuid, vector<float, 1536>).
func ReadRow(b *testing.B, drivers []Driver) {
	requests(b, "ReadRow", drivers, true, "/row=vector", func(s Session) (func() error, int) {
		return func() error {
			r, err := s.ReadVector(InsertID)
			if err == nil && (r.ID != InsertID || len(r.V) != Dim || r.V[Dim-1] != InsertedVector[Dim-1]) {
				err = fmt.Errorf("another row: %.100v", r)
			}
			return err
		}, 16 + 4*Dim
	})
}

func requests(b *testing.B, name string, drivers []Driver, vectors bool, part string, request func(s Session) (func() error, int)) {
	for _, d := range drivers {
		if vectors && !d.Vectors || !d.takesPart(name) {
			continue
		}
		for _, inFlight := range inFlights {
			for _, version := range d.Versions {
				b.Run(fmt.Sprintf("driver=%s%s/inflight=%d/version=%d", d.Name, part, inFlight, version), func(b *testing.B) {
					s := d.open(b, version)
					op, size := request(s)
					if err := check(s, op); err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(size))
					Measure(b, func() error { return InFlight(b.N, inFlight, op) })
				})
			}
		}
	}
}

// check tries the operation, and that the whole row is right.
func check(s Session, op func() error) error {
	for range 3 {
		if err := op(); err != nil {
			return err
		}
	}
	if r, err := s.ReadVector(InsertID); !errors.Is(err, ErrNoVectors) && (err != nil || r.Check(0) != nil) {
		return fmt.Errorf("another row: %w", err)
	}
	return nil
}

// ErrNoVectors is what a driver that knows none returns.
var ErrNoVectors = errors.New("the driver knows no vectors")

// checked has the scans whose rows were compared: a benchmark runs several times, with growing b.N.
var checked sync.Map

// Scan reads pages of rows. One operation is one row.
func Scan(b *testing.B, drivers []Driver) {
	const pages = 1000 // the later ones are not reached, so that a scan does not end within a benchmark
	for _, rows := range []string{"vector", "small", "mixed"} {
		for _, d := range drivers {
			if rows == "vector" && !d.Vectors || !d.takesPart("Scan") && !d.takesPart("Scan/"+rows) {
				continue
			}
			for _, version := range d.Versions {
				b.Run(fmt.Sprintf("driver=%s/rows=%s/version=%d", d.Name, rows, version), func(b *testing.B) {
					s := d.open(b, version)
					if _, done := checked.LoadOrStore(b.Name(), true); !done {
						if n, err := s.Scan(rows, 2, 3*PageSize, true); err != nil || n != 2*PageSize {
							b.Fatal(n, err)
						}
					}
					Measure(b, func() error {
						for left := b.N; left > 0; {
							n, err := s.Scan(rows, pages, left, false)
							if err != nil || n == 0 {
								return fmt.Errorf("%d rows: %w", n, err)
							}
							left -= n
						}
						return nil
					})
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}
