// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

const productionSample = `
BenchmarkProduction/driver=vecql/op=insert-small/net=plain/compress=none/conns=1/deadline=none/version=5/inflight=256-2 9 2000 ns/op 2.00 cpu-us/op 500000 requests/s 0.01 writes/op 16 B/op 3 allocs/op
BenchmarkProduction/driver=vecql/op=insert-small/net=plain/compress=none/conns=1/deadline=none/version=5/inflight=4096-2 9 4000 ns/op 3.00 cpu-us/op 250000 requests/s 0.01 writes/op 16 B/op 3 allocs/op
BenchmarkProduction/driver=vecql/op=insert-small/net=tls/compress=none/conns=1/deadline=none/version=5/inflight=256-2 9 4000 ns/op 2.50 cpu-us/op 250000 requests/s 0.01 writes/op 16 B/op 4 allocs/op
BenchmarkProduction/driver=vecql/op=insert-small/net=plain/compress=lz4/conns=1/deadline=none/version=5/inflight=256-2 9 4000 ns/op 2.75 cpu-us/op 250000 requests/s 0.01 writes/op 16 B/op 3 allocs/op
BenchmarkProduction/driver=vecql/op=insert-small/net=tls/compress=none/conns=4/deadline=each/version=4/inflight=256-2 9 4000 ns/op 2.25 cpu-us/op 250000 requests/s 0.01 writes/op 16 B/op 3 allocs/op
BenchmarkProduction/driver=vecql/op=insert-small/net=tls/compress=lz4/conns=4/deadline=each/version=4/inflight=256-2 9 4000 ns/op 2.75 cpu-us/op 250000 requests/s 0.01 writes/op 16 B/op 3 allocs/op
BenchmarkProduction/driver=vecql-typed/op=insert-small/net=plain/compress=none/conns=1/deadline=none/version=5/inflight=256-2 9 1000 ns/op 1.00 cpu-us/op 750000 requests/s 0.01 writes/op 0 B/op 0 allocs/op
BenchmarkProduction/driver=vecql-typed/op=insert-small/net=plain/compress=lz4/conns=1/deadline=none/version=5/inflight=256-2 9 1000 ns/op 1.75 cpu-us/op 750000 requests/s 0.01 writes/op 0 B/op 0 allocs/op
BenchmarkProduction/driver=vecql-compressor/op=insert-small/net=none/compress=lz4/conns=1/deadline=none/version=5/inflight=1-2 9 900 ns/op 0.90 cpu-us/op
BenchmarkProduction/driver=vecql-compressor/op=insert-small/net=none/compress=lz4/conns=1/deadline=none/version=5/inflight=256-2 9 500 ns/op 0.50 cpu-us/op
BenchmarkProduction/driver=rust/op=insert-small/net=plain/compress=none/conns=1/deadline=none/version=4/inflight=256	9	4000 ns/op	4.00 cpu-us/op	250000 requests/s
BenchmarkProduction/driver=rust/op=insert-small/net=tls/compress=none/conns=1/deadline=none/version=4/inflight=256	9	4000 ns/op	6.00 cpu-us/op	125000 requests/s
BenchmarkProduction/driver=rust/op=insert-small/net=plain/compress=lz4/conns=1/deadline=none/version=4/inflight=256	9	4000 ns/op	5.00 cpu-us/op	250000 requests/s
BenchmarkProduction/driver=rust/op=insert-small/net=tls/compress=lz4/conns=4/deadline=each/version=4/inflight=256	9	4000 ns/op	7.00 cpu-us/op	250000 requests/s
BenchmarkProduction/driver=rust-compressor/op=insert-small/net=none/compress=lz4/conns=1/deadline=none/version=4/inflight=1	9	1500 ns/op	1.500 cpu-us/op
`

// TestProduction has a driver of v4 beside one of v5. Its results stand in the rows of v5, and its row of v4 is there
// only because the other driver has it too. LZ4 alone has as many frames as are in flight in v5, and one in v4.
func TestProduction(t *testing.T) {
	all, err := parse(strings.NewReader(productionSample))
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	var md strings.Builder
	all[0].production(&md)
	got := md.String()[len(productionLegend):]
	want := `
### insert-small

1000 requests per second:

| net | compress | conns | deadline | protocol | in flight | vecql | vecql-typed | rust (v4) | vs best peer |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| plain | none | 1 | none | v5 | 256 | 500 | 750 | 250 | **2.00×** (rust (v4)) |
| plain | none | 1 | none | v5 | 4096 | 250 |  |  |  |
| tls | none | 1 | none | v5 | 256 | 250 |  | 125 | **1.00×** (rust (v4)) ~ |
| plain | lz4 | 1 | none | v5 | 256 | 250 | 750 | 250 | **1.00×** (rust (v4)) ~ |
| tls | none | 4 | each | v4 | 256 | 250 |  |  |  |
| tls | lz4 | 4 | each | v4 | 256 | 250 |  | 250 | **1.00×** (rust (v4)) ~ |

client CPU, µs per request:

| net | compress | conns | deadline | protocol | in flight | vecql | vecql-typed | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| plain | none | 1 | none | v5 | 256 | 2.00 | 1.00 | 4.00 |
| plain | none | 1 | none | v5 | 4096 | 3.00 |  |  |
| tls | none | 1 | none | v5 | 256 | 2.50 |  | 6.00 |
| plain | lz4 | 1 | none | v5 | 256 | 2.75 | 1.75 | 5.00 |
| tls | none | 4 | each | v4 | 256 | 2.25 |  |  |
| tls | lz4 | 4 | each | v4 | 256 | 2.75 |  | 7.00 |

system calls of write per request:

| net | compress | conns | deadline | protocol | in flight | vecql | vecql-typed | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| plain | none | 1 | none | v5 | 256 | 0.01 | 0.01 | n/a |
| plain | none | 1 | none | v5 | 4096 | 0.01 |  |  |
| tls | none | 1 | none | v5 | 256 | 0.01 |  | n/a |
| plain | lz4 | 1 | none | v5 | 256 | 0.01 | 0.01 | n/a |
| tls | none | 4 | each | v4 | 256 | 0.01 |  |  |
| tls | lz4 | 4 | each | v4 | 256 | 0.01 |  | n/a |

allocations per request:

| net | compress | conns | deadline | protocol | in flight | vecql | vecql-typed | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| plain | none | 1 | none | v5 | 256 | 3.00 | 0 | n/a |
| plain | none | 1 | none | v5 | 4096 | 3.00 |  |  |
| tls | none | 1 | none | v5 | 256 | 4.00 |  | n/a |
| plain | lz4 | 1 | none | v5 | 256 | 3.00 | 0 | n/a |
| tls | none | 4 | each | v4 | 256 | 3.00 |  |  |
| tls | lz4 | 4 | each | v4 | 256 | 3.00 |  | n/a |

### TLS / plain, client CPU

| request | net | compress | conns | deadline | protocol | in flight | vecql | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| insert-small | tls | none | 1 | none | v5 | 256 | 1.25× | 1.50× |

### TLS / plain, requests per second

| request | net | compress | conns | deadline | protocol | in flight | vecql | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| insert-small | tls | none | 1 | none | v5 | 256 | 0.50× | 0.50× |

### LZ4: its client CPU, µs per request (and that of the driver's LZ4 alone with the same frames)

| request | net | compress | conns | deadline | protocol | in flight | vecql | vecql-typed | rust (v4) |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| insert-small | plain | lz4 | 1 | none | v5 | 256 | +0.75 (0.50) | +0.75 (0.50) | +1.00 (1.50) |
| insert-small | tls | lz4 | 4 | each | v4 | 256 | +0.50 (0.90) |  |  |

### 4096 / 256 in flight, client CPU

| request | net | compress | conns | deadline | protocol | in flight | vecql |
| --- | --- | --- | --- | --- | --- | --- | --- |
| insert-small | plain | none | 1 | none | v5 | 4096 | 1.50× |

### 4096 / 256 in flight, requests per second

| request | net | compress | conns | deadline | protocol | in flight | vecql |
| --- | --- | --- | --- | --- | --- | --- | --- |
| insert-small | plain | none | 1 | none | v5 | 4096 | 0.50× |
`
	if got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Fatalf("line %d: %q, want %q\n%s", i, g[i], w[min(i, len(w)-1)], got)
			}
		}
		t.Fatal(got)
	}
}
