// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Driver is a driver, or one configuration of it.
type Driver struct {
	Name     string
	Versions []int    // protocol versions
	Vectors  bool     // whether the driver has vectors
	Only     []string // names of its benchmarks; nil means all
	Open     func(addr string, version int) (Session, error)
}

// A Session is one connection to one node with consistency ONE, without compression, and with the driver's other
// defaults.
type Session interface {
	InsertVector(id [16]byte, v []float32) error
	InsertSmall(k, v int64) error
	InsertMixed(r *MixedRow) error
	// ReadVector reads the row into new memory.
	ReadVector(id [16]byte) (VectorRow, error)
	// Scan reads rows of one of the three kinds, at most limit of pages pages, and returns their number. If check is
	// set, it compares them with the expected rows.
	Scan(rows string, pages, limit int, check bool) (int, error)
	// Codec returns the driver's codec for the case's value.
	Codec(c *Case) (Codec, error)
	Close()
}

// A Codec encodes and decodes one value.
type Codec struct {
	Marshal func() ([]byte, error)
	Fresh   func() error // decodes into new memory
	Reused  func() error // decodes into the memory of the last call; nil if the driver cannot
	Same    func() bool  // reports whether the last decoded value is correct
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

// Marshal measures the encoding of vectors.
func Marshal(b *testing.B, drivers []Driver) {
	codecs(b, "Marshal", drivers, true, func(b *testing.B, prefix string, c *Case, codec Codec) {
		b.Run(prefix+"/"+c.Name(), func(b *testing.B) { marshal(b, c, codec) })
	})
}

// Unmarshal measures the decoding of vectors.
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

// Collection measures the encoding and decoding of lists and maps.
func Collection(b *testing.B, drivers []Driver) {
	codecs(b, "Collection", drivers, false, func(b *testing.B, prefix string, c *Case, codec Codec) {
		b.Run(prefix+"/"+c.Name()+"/op=marshal", func(b *testing.B) { marshal(b, c, codec) })
		b.Run(prefix+"/"+c.Name()+"/op=unmarshal", func(b *testing.B) { unmarshal(b, c, codec, codec.Fresh) })
	})
}

func codecs(b *testing.B, name string, drivers []Driver, vectors bool,
	run func(b *testing.B, prefix string, c *Case, codec Codec),
) {
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
		b.Skip("the driver has no Marshal")
	}
	got, err := codec.Marshal()
	_, isMap := c.Value.(map[string]int) // maps have no order
	if err != nil || !isMap && !bytes.Equal(got, c.Data) || len(got) != len(c.Data) {
		b.Fatalf("marshal returned %d bytes, want %d with the expected content: %v", len(got), len(c.Data), err)
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
	for range 2 { // the second call may reuse the memory of the first
		if err := f(); err != nil || !codec.Same() {
			b.Fatal("decoded value is wrong: ", err)
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

// Insert measures inserts of rows of (uuid, vector<float, 1536>), of (bigint, bigint), and of twenty columns. The
// server compares the values of the first inserts.
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

// ReadRow measures reads of one row of (uuid, vector<float, 1536>).
func ReadRow(b *testing.B, drivers []Driver) {
	requests(b, "ReadRow", drivers, true, "/row=vector", func(s Session) (func() error, int) {
		return func() error {
			r, err := s.ReadVector(InsertID)
			if err == nil && (r.ID != InsertID || len(r.V) != Dim || r.V[Dim-1] != InsertedVector[Dim-1]) {
				err = fmt.Errorf("row differs from the inserted one: %.100v", r)
			}
			return err
		}, 16 + 4*Dim
	})
}

func requests(b *testing.B, name string, drivers []Driver, vectors bool, part string,
	request func(s Session) (func() error, int),
) {
	for _, d := range drivers {
		if vectors && !d.Vectors || !d.takesPart(name) && !d.takesPart(name+strings.Replace(part, "/row=", "/", 1)) {
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
					Measure(b, func() error { return InFlight(b.N, inFlight, func(int) error { return op() }) })
				})
			}
		}
	}
}

// check runs the operation three times and compares the row that ReadVector returns.
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

// ErrNoVectors means that the driver has no vectors.
var ErrNoVectors = errors.New("the driver has no vectors")

// checked lists the scans whose rows were compared: the testing package runs a benchmark several times with growing
// b.N.
var checked sync.Map

// Scan measures reads of pages of rows. One operation is one row.
func Scan(b *testing.B, drivers []Driver) {
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
					Measure(b, func() error { return scan(b.N, s.Scan, rows) })
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
				})
			}
		}
	}
}

// scan reads rows of a result that ends with the page of the last one. A result with more pages would charge drivers
// that request the next page early with a page that no other driver reads.
func scan(rows int, read func(rows string, pages, limit int, check bool) (int, error), kind string) error {
	n, err := read(kind, (rows+PageSize-1)/PageSize, rows, false)
	if err != nil || n != rows {
		return fmt.Errorf("%d rows, want %d: %w", n, rows, err)
	}
	return nil
}
