// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"context"
	"crypto/tls"
	_ "embed" // star.txt
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Requests as services send them: over TLS, compressed, over several connections, each with a deadline.

// A Setting is a configuration of a client.
type Setting struct {
	TLS     *tls.Config // nil means a plain connection
	LZ4     bool
	Conns   int           // connections to the node
	Timeout time.Duration // of each request, set by the driver; 0 means the driver's default
	Version int           // of the protocol
	Dialer  *Dialer
}

// A Service is a session with a setting. Each request has a context.
type Service interface {
	InsertTen(ctx context.Context, r *SmallRow) error
	InsertVectorFor(ctx context.Context, id [16]byte, v []float32) error
	// ReadVectorFor reads the row into new memory.
	ReadVectorFor(ctx context.Context, id [16]byte) (VectorRow, error)
	// Scan is as in Session.
	Scan(rows string, pages, limit int, check bool) (int, error)
	Close()
}

// A ServiceDriver is a driver, or one configuration of it.
type ServiceDriver struct {
	Name string
	Scan bool // whether the driver takes part in scans
	Few  bool // whether the driver takes part in few settings
	Open func(addr string, s Setting) (Service, error)
}

// arms returns the settings in which the driver takes part.
func (d *ServiceDriver) arms() (arms []arm) {
	for _, a := range star {
		if a.few || !d.Few {
			arms = append(arms, a)
		}
	}
	return arms
}

// Timeout is the time of a request with a deadline, of a context or of the driver.
const Timeout = 10 * time.Second

// A Dialer opens plain connections and counts them.
type Dialer struct {
	net.Dialer
	opened atomic.Int64
}

// DialContext has the signature of net.Dialer's.
func (d *Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := d.Dialer.DialContext(ctx, network, addr)
	if err == nil {
		d.opened.Add(1)
	}
	return c, err
}

// wait waits for the connections of a session, besides which it has a connection for control.
func (d *Dialer) wait(conns int) error {
	for range 5000 {
		if d.opened.Load() > int64(conns) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("the session has %d connections, want %d and one for control", d.opened.Load(), conns)
}

// An arm is a setting of star.txt with the numbers of requests in flight that are measured.
type arm struct {
	net, compress string
	conns         int
	deadline      string
	version       int
	scan, few     bool
	inFlights     []int
}

//go:embed star.txt
var starText string

var star = parseStar(starText)

// parseStar returns the settings of star.txt.
func parseStar(text string) (star []arm) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 8 || f[0] == "#" {
			continue
		}
		a := arm{net: f[0], compress: f[1], deadline: f[3], scan: f[5] == "scan", few: f[6] == "few"}
		numbers := make([]int, 0, len(f))
		for _, number := range slices.Concat(f[2:3], f[4:5], f[7:]) {
			n, err := strconv.Atoi(number)
			if err != nil {
				panic(fmt.Sprintf("star.txt: %q: %v", line, err))
			}
			numbers = append(numbers, n)
		}
		a.conns, a.version, a.inFlights = numbers[0], numbers[1], numbers[2:]
		star = append(star, a)
	}
	return star
}

// benchmark returns the name of a benchmark of the family.
func (a arm) benchmark(driver, op string, inFlight int) string {
	return fmt.Sprintf("driver=%s/op=%s/%s/inflight=%d", driver, op, a.name(), inFlight)
}

func (a arm) name() string {
	return fmt.Sprintf("net=%s/compress=%s/conns=%d/deadline=%s/version=%d", a.net, a.compress, a.conns, a.deadline, a.version)
}

// An operation is a request of the family.
type operation struct {
	name     string
	most     int // requests in flight
	text     string
	run      func(ctx context.Context, s Service, i int) error // request i
	values   func(i int) [][]byte                              // the encoded values of request i
	response func(i int) []byte                                // the body of the response, without metadata
}

var ops = []operation{
	{
		"insert-small", 4096, InsertTen,
		func(ctx context.Context, s Service, i int) error {
			return s.InsertTen(ctx, &smallRows[i%len(smallRows)])
		},
		func(i int) [][]byte { return smallRows[i%len(smallRows)].Values() }, void,
	},
	{
		"insert-vector", 256, InsertVector,
		func(ctx context.Context, s Service, i int) error {
			r := &vectorRows[i%len(vectorRows)]
			return s.InsertVectorFor(ctx, r.ID, r.V)
		},
		func(i int) [][]byte {
			r := &vectorRows[i%len(vectorRows)]
			return [][]byte{Bytes(r.ID), VectorBytes(r.V)}
		}, void,
	},
	{
		"read-vector", 256, ReadVector,
		func(ctx context.Context, s Service, i int) error {
			want := &vectorRows[i%len(vectorRows)]
			r, err := s.ReadVectorFor(ctx, want.ID)
			if err == nil && (r.ID != want.ID || len(r.V) != Dim || r.V[Dim-1] != want.V[Dim-1]) {
				err = fmt.Errorf("row differs from the inserted one: %.100v", r)
			}
			return err
		},
		func(i int) [][]byte { return [][]byte{Bytes(vectorRows[i%len(vectorRows)].ID)} },
		func(i int) []byte {
			r := &vectorRows[i%len(vectorRows)]
			return cells([]byte(oneRow), r.ID, VectorBytes(r.V))
		},
	},
}

// void returns the body of a RESULT without rows. oneRow is a row of two columns without metadata, up to its cells.
func void(int) []byte { return []byte("\x00\x00\x00\x01") }

const oneRow = "\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x01"

// smallRows and vectorRows are the rows of the requests, in turn. Each has more bytes than the 64 KiB in which LZ4
// finds repetitions: a segment of one repeated row would favor the drivers that compress several requests together.
var (
	smallRows  = rows(1024, Small)
	vectorRows = rows(32, func(i int) VectorRow { return VectorRow{UUID(i), Vector(i, Dim)} })
)

func rows[T any](n int, row func(i int) T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = row(i)
	}
	return all
}

// open opens a session with all its connections and checks its requests.
func (a arm) open(tb testing.TB, d ServiceDriver) Service {
	tb.Helper()
	setting := Setting{LZ4: a.compress == "lz4", Conns: a.conns, Version: a.version, Dialer: &Dialer{}}
	if a.deadline == "driver" {
		setting.Timeout = Timeout
	}
	if a.net == "tls" {
		setting.TLS = TLS(tb)
	}
	s, err := d.Open(Addr(tb), setting)
	if err != nil {
		tb.Fatal(err)
	}
	if err := setting.Dialer.wait(a.conns); err != nil {
		tb.Fatal(err)
	}
	for _, op := range ops { // on all connections
		if err := InFlight(64, 16, func(i int) error { return a.request(s, i, op.run) }); err != nil {
			tb.Fatal(op.name, err)
		}
	}
	return s
}

// request sends request i with the context of the setting.
func (a arm) request(s Service, i int, run func(ctx context.Context, s Service, i int) error) error {
	if a.deadline != "each" {
		return run(context.Background(), s, i)
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	return run(ctx, s, i)
}

// Production measures the settings of the star. All benchmarks of a setting share a session.
func Production(b *testing.B, drivers []ServiceDriver) {
	for _, d := range drivers {
		for _, a := range d.arms() {
			s := a.open(b, d)
			for _, op := range ops {
				for _, inFlight := range a.inFlights {
					if inFlight > op.most {
						continue
					}
					b.Run(a.benchmark(d.Name, op.name, inFlight), func(b *testing.B) {
						MeasureRequests(b, func() error {
							return InFlight(b.N, inFlight, func(i int) error { return a.request(s, i, op.run) })
						})
					})
				}
			}
			if d.Scan && a.scan {
				b.Run(a.benchmark(d.Name, "scan-vector", 1), func(b *testing.B) { productionScan(b, s) })
			}
			s.Close()
		}
	}
}

// productionScan reads pages of vectors. One operation is one row.
func productionScan(b *testing.B, s Service) {
	MeasureRequests(b, func() error { return scan(b.N, s.Scan, "vector") })
}

// MeasureRequests is Measure. It also reports requests per second, and system calls of write per request.
func MeasureRequests(b *testing.B, f func() error) {
	b.Helper()
	before, known := writes()
	Measure(b, f)
	if after, ok := writes(); ok && known {
		b.ReportMetric(float64(after-before)/float64(b.N), "writes/op")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

// writes returns the number of system calls of write, writev included, that this process has made. A wrapper of
// net.Conn would not see writev, or prevent it. It reports false on systems without /proc.
func writes() (n int64, ok bool) {
	stat, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(stat) {
		if text, found := bytes.CutPrefix(line, []byte("syscw: ")); found {
			n, err = strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// CheckProduction opens a session of each setting and compares a row. With the settings of scans it compares at most
// limit rows of two pages.
func CheckProduction(t *testing.T, drivers []ServiceDriver, limit int) {
	for _, d := range drivers {
		for _, a := range d.arms() {
			t.Run(d.Name+"/"+a.name(), func(t *testing.T) {
				s := a.open(t, d)
				defer s.Close()
				r, err := s.ReadVectorFor(context.Background(), InsertID)
				if err := errors.Join(err, r.Check(0)); err != nil {
					t.Error(err)
				}
				if !d.Scan || !a.scan {
					return
				}
				if n, err := s.Scan("vector", 2, limit, true); err != nil || n != min(limit, 2*PageSize) {
					t.Errorf("%d rows, want %d: %v", n, min(limit, 2*PageSize), err)
				}
			})
		}
	}
}

// A Bare is a benchmark of bare sockets, which have one connection, no LZ4 and no deadline.
type Bare struct {
	Name     string
	TLS      bool
	InFlight int
	Text     string               // the statement
	Values   func(i int) [][]byte // the encoded values of request i
	Answer   int                  // bytes of a response
	Scan     bool                 // pages instead of requests
}

// Bares returns the benchmarks of the family in which bare sockets take part.
func Bares() (all []Bare) {
	for _, a := range star {
		if a.compress != "none" || a.conns > 1 || a.deadline != "none" {
			continue
		}
		for _, op := range ops {
			for _, inFlight := range a.inFlights {
				if inFlight <= op.most {
					name := a.benchmark("floor", op.name, inFlight)
					all = append(all, Bare{name, a.net == "tls", inFlight, op.text, op.values, 9 + len(op.response(0)), false})
				}
			}
		}
		if a.scan {
			name := a.benchmark("floor", "scan-vector", 1)
			all = append(all, Bare{Name: name, TLS: a.net == "tls", Text: ScanVectors, Scan: true})
		}
	}
	return all
}
