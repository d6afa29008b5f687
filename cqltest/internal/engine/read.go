// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"

	"github.com/vecql/vecql/internal/token"
)

// Reading of the rows of a table in order from any position, and the paging state.

// position is a reader's position: after a row or after a partition.
type position struct {
	token      int64
	key        []byte
	clustering [][]byte // of the last row; nil if done
	done       bool     // after the whole partition
}

// readChunk is the largest number of rows that a reader takes while it holds the lock. It releases the lock between
// chunks.
const readChunk = 1024

// reader yields the live rows of a set of partitions or a range of tokens, within ranges of rows.
type reader struct {
	t        *table
	st       *store
	keys     [][]byte // in reading order; nil means a range of tokens
	from, to int64
	slices   []clusterSlice
	reversed bool
	distinct bool // one row per partition
	statics  bool // a partition with only a static row yields a row
	sec      int64

	most   int      // rows of this chunk
	pos    position // without meaning before the first row
	placed bool     // pos has a meaning
	next   int      // next index in keys
	seen   bool     // the partition at pos has yielded rows
	end    bool     // of the range of tokens
	warmed int      // result of warm, so that the compiler keeps its loads
}

// resume positions the reader after p.
func (r *reader) resume(p position) error {
	r.pos, r.placed, r.seen = p, true, !p.done
	if r.keys == nil {
		return nil
	}
	i := slices.IndexFunc(r.keys, func(k []byte) bool { return bytes.Equal(k, p.key) })
	if i < 0 {
		return invalid("Invalid paging state: it is not of this query")
	}
	r.next = i
	return nil
}

// read returns the next rows, at most n or readChunk; none means the end.
func (r *reader) read(ctx context.Context, n int64) ([]rowView, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.st.mu.RLock()
	defer r.st.mu.RUnlock()
	r.most = int(min(n, readChunk))
	var out []rowView
	if r.keys != nil {
		for p := r.keyed(); p != nil && len(out) < r.most; p = r.keyed() {
			out = r.rows(p, out)
		}
		return out, nil
	}
	if r.end {
		return nil, nil
	}
	out = make([]rowView, 0, min(r.most, r.st.parts.n))
	warm := -1 // the last chunk of partitions that was loaded into the cache
	for at := r.start(); len(out) < r.most; at = r.st.parts.next(at) {
		p, ok := r.st.parts.get(at)
		if ok && at.chunk != warm {
			warm = at.chunk
			ahead := r.st.parts.chunks[warm][at.at:]
			r.warmed += warmed(ahead[:min(len(ahead), r.most-len(out))])
		}
		if r.end = !ok || p.token > r.to; r.end {
			break
		}
		out = r.rows(p.partition, out)
	}
	return out, nil
}

// warmed loads the rows of partitions of one row into the cache, and returns a sum of what it has loaded. Partitions in
// the order of tokens are anywhere in memory: these short loops wait for several of them at once, the copying of rows
// waits for each alone, half of the time of a scan.
func warmed(parts []placed) (sum int) {
	for i := range parts {
		sum += parts[i].rows.n
	}
	for i := range parts {
		if rows := &parts[i].rows; rows.n == 1 {
			sum += len(rows.chunks[0][0].packed)
		}
	}
	for i := range parts {
		rows := &parts[i].rows
		if rows.n != 1 {
			continue
		}
		if b := rows.chunks[0][0].packed; len(b) > 0 {
			sum += int(b[0]) + int(b[len(b)/2]) + int(b[len(b)-1])
		}
	}
	return sum
}

// keyed returns the partition of keys to continue in; nil means none.
func (r *reader) keyed() *partition {
	for ; r.next < len(r.keys); r.next++ {
		key := r.keys[r.next]
		p := r.st.find(key)
		if p != nil && !(r.placed && r.pos.done && bytes.Equal(r.pos.key, key)) {
			return p
		}
	}
	return nil
}

// start returns the place of the partition to continue in, in a range of tokens.
func (r *reader) start() place {
	return r.st.parts.search(func(p placed) bool {
		if !r.placed {
			return p.token < r.from
		}
		c := p.compare(r.pos.token, r.pos.key)
		return c < 0 || c == 0 && r.pos.done
	})
}

// rows appends rows of p and advances the position.
func (r *reader) rows(p *partition, out []rowView) []rowView {
	if !r.placed || r.pos.token != p.token || !bytes.Equal(r.pos.key, p.key) {
		r.pos, r.placed, r.seen = position{token: p.token, key: p.key}, true, false
	}
	after := r.pos.clustering
	view := rowView{t: r.t, p: &p.partitionHead, static: p.static}
	ranges := r.slices
	for i := range ranges {
		if r.reversed {
			i = len(ranges) - 1 - i
		}
		at := r.first(p, &ranges[i], after)
		for {
			found, ok := p.rows.get(at)
			if !ok || !r.reversed && !r.t.before(found.clustering, ranges[i].to) ||
				r.reversed && !r.t.after(found.clustering, ranges[i].from) {
				break
			}
			if r.reversed {
				at = p.rows.previous(at)
			} else {
				at = p.rows.next(at)
			}
			if !found.live(r.sec) {
				continue
			}
			view.row = found
			out = append(out, view)
			r.seen = true
			if r.distinct {
				r.pos.done = true
				return out
			}
			if len(out) >= r.most {
				r.pos.clustering = found.clustering
				return out
			}
		}
	}
	if !r.seen && r.statics && p.static.live(r.sec) {
		view.row = nil
		out = append(out, view)
	}
	r.pos.clustering, r.pos.done = nil, true
	return out
}

// first returns the place of the first row of a range after the position.
func (r *reader) first(p *partition, s *clusterSlice, after [][]byte) place {
	if !r.reversed {
		if after == nil && len(s.from.prefix) == 0 {
			return place{}
		}
		return p.rows.search(func(o *row) bool {
			return !r.t.after(o.clustering, s.from) || after != nil && r.t.compareClustering(o.clustering, after) <= 0
		})
	}
	at := p.rows.search(func(o *row) bool {
		return r.t.before(o.clustering, s.to) && (after == nil || r.t.compareClustering(o.clustering, after) < 0)
	})
	if at.chunk == len(p.rows.chunks) {
		if at.chunk == 0 {
			return place{-1, 0}
		}
		return place{at.chunk - 1, len(p.rows.chunks[at.chunk-1]) - 1}
	}
	return p.rows.previous(at)
}

// pagingState is a position and the rest of the limits; -1 means no limit.
type pagingState struct {
	position
	left          int64 // of LIMIT
	leftPartition int64 // of PER PARTITION LIMIT, in the current partition
}

// pagingVersion is the first byte of a paging state.
const pagingVersion = 0x56

// bytes encodes the state: version, flags, key, clustering columns, limits, CRC-32 of all of these.
func (s *pagingState) bytes() []byte {
	b := []byte{pagingVersion, byte(btoi(s.done)) | byte(btoi(s.clustering != nil))<<1}
	b = appendBytes(b, s.key)
	b = binary.BigEndian.AppendUint16(b, uint16(len(s.clustering)))
	for _, c := range s.clustering {
		b = appendBytes(b, c)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(s.left))
	b = binary.BigEndian.AppendUint64(b, uint64(s.leftPartition))
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// parsePagingState decodes a state that bytes encoded. It refuses anything else with Cassandra's error.
func parsePagingState(b []byte, t *table) (*pagingState, error) {
	fault := &Error{Code: CodeProtocol, Message: "Invalid value for the paging state"}
	if len(b) < 6 || b[0] != pagingVersion || crc32.ChecksumIEEE(b[:len(b)-4]) != binary.BigEndian.Uint32(b[len(b)-4:]) {
		return nil, fault
	}
	flags, rest := b[1], b[2:len(b)-4]
	s := &pagingState{}
	var ok bool
	if s.key, rest, ok = cutBytes(rest); !ok || s.key == nil || len(rest) < 2 {
		return nil, fault
	}
	n := int(binary.BigEndian.Uint16(rest))
	rest = rest[2:]
	if n != 0 && n != len(t.ck) {
		return nil, fault
	}
	for range n {
		var c []byte
		if c, rest, ok = cutBytes(rest); !ok || c == nil {
			return nil, fault
		}
		s.clustering = append(s.clustering, c)
	}
	if len(rest) != 16 {
		return nil, fault
	}
	s.done = flags&1 != 0
	if flags&2 != 0 && s.clustering == nil {
		s.clustering = [][]byte{}
	}
	s.left, s.leftPartition = int64(binary.BigEndian.Uint64(rest)), int64(binary.BigEndian.Uint64(rest[8:]))
	if s.left < -1 || s.leftPartition < -1 || s.left > math.MaxInt32 || s.leftPartition > math.MaxInt32 {
		return nil, fault
	}
	s.token = token.Murmur3(s.key)
	return s, nil
}
