// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bench/workload"
	"github.com/vecql/vecql/cql"
)

func (s *session) Codec(c *workload.Case) (workload.Codec, error) {
	m, err := s.StatementMetadata(context.Background(), c.Statement(), "")
	if err != nil {
		return workload.Codec{}, err
	}
	info := m.BindMarkers[0].TypeInfo
	switch v := c.Value.(type) {
	case []float32:
		return vector(s, info, c, v), nil
	case []float64:
		return vector(s, info, c, v), nil
	case []int32:
		return vector(s, info, c, v), nil
	case []int64:
		return vector(s, info, c, v), nil
	case [][16]byte:
		ids := make([]cql.UUID, len(v))
		for i, u := range v {
			ids[i] = u
		}
		return vector(s, info, c, ids), nil
	case []string:
		return codec(info, c, v), nil
	case map[string]int:
		return codec(info, c, v), nil
	}
	return workload.Codec{}, fmt.Errorf("no codec for %v", reflect.TypeOf(c.Value))
}

func codec[T any](info cql.TypeInfo, c *workload.Case, value T) workload.Codec {
	var kept T
	return workload.Codec{
		Marshal: func() ([]byte, error) { return vecql.Marshal(info, value) },
		Fresh: func() error {
			var fresh T
			err := vecql.Unmarshal(info, c.Data, &fresh)
			kept = fresh
			return err
		},
		Same: func() bool { return reflect.DeepEqual(kept, value) },
	}
}

// vector returns a codec that also decodes into existing memory.
func vector[T float32 | float64 | int32 | int64 | cql.UUID](s *session, info cql.TypeInfo, c *workload.Case, value []T) workload.Codec {
	all := codec(info, c, value)
	if s.way == "append" {
		buf := make([]byte, 0, len(c.Data)+64)
		all.Marshal = func() ([]byte, error) { out, _, err := vecql.AppendMarshal(buf, info, value); return out, err }
	}
	if c.Dim == 0 {
		return all
	}
	// Into does not expose the memory it decodes into. Clearing the memory after each comparison detects a decoder that
	// writes elsewhere.
	reused := make([]T, len(value))
	into, same, last := vecql.Into(reused), all.Same, false
	fresh := all.Fresh
	all.Fresh = func() error { last = false; return fresh() }
	all.Reused = func() error { last = true; return vecql.Unmarshal(info, c.Data, into) }
	all.Same = func() bool {
		if !last {
			return same()
		}
		ok := slices.Equal(reused, value)
		clear(reused)
		return ok
	}
	return all
}

// limits are the references for codecs of float vectors: a plain loop and a memory copy.
var limits = []workload.Driver{
	{Name: "scalar", Versions: []int{0}, Vectors: true, Open: func(string, int) (workload.Session, error) { return loop{}, nil }},
	{Name: "copy", Versions: []int{0}, Vectors: true, Open: func(string, int) (workload.Session, error) { return loop{copies: true}, nil }},
}

// loop is a codec without a driver.
type loop struct {
	workload.Session // nil: loop has a codec only
	copies           bool
}

func (loop) Close() {}

func (l loop) Codec(c *workload.Case) (workload.Codec, error) {
	value, ok := c.Value.([]float32)
	if !ok {
		return workload.Codec{}, nil
	}
	if l.copies {
		var kept []byte
		return workload.Codec{
			Marshal: func() ([]byte, error) { return append([]byte(nil), c.Data...), nil },
			Fresh:   func() error { kept = append([]byte(nil), c.Data...); return nil },
			Reused:  func() error { kept = append(kept[:0], c.Data...); return nil },
			Same:    func() bool { return slices.Equal(kept, c.Data) },
		}, nil
	}
	kept := make([]float32, len(value))
	decode := func(v []float32) {
		for i := range v {
			v[i] = math.Float32frombits(binary.BigEndian.Uint32(c.Data[4*i:]))
		}
		kept = v
	}
	return workload.Codec{
		Marshal: func() ([]byte, error) {
			b := make([]byte, 4*len(value))
			for i, e := range value {
				binary.BigEndian.PutUint32(b[4*i:], math.Float32bits(e))
			}
			return b, nil
		},
		Fresh:  func() error { decode(make([]float32, len(value))); return nil },
		Reused: func() error { decode(kept); return nil },
		Same:   func() bool { return slices.Equal(kept, value) },
	}, nil
}
