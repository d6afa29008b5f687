// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/hooks"
	"github.com/vecql/vecql/internal/wire"
)

// seen is an observer of a module whose HostInfo is a text. It records what it observes.
type seen struct {
	connects []ObservedConnect[string]
	frames   []ObservedFrameHeader[string]
	streams  []string
	none     bool // no stream is observed
}

func (s *seen) ObserveConnect(o ObservedConnect[string]) { s.connects = append(s.connects, o) }

func (s *seen) ObserveFrameHeader(_ context.Context, o ObservedFrameHeader[string]) {
	s.frames = append(s.frames, o)
}

func (s *seen) StreamContext(context.Context) StreamObserverContext[string] {
	if s.none {
		return nil
	}
	return s
}

func (s *seen) StreamStarted(o ObservedStream[string]) {
	s.streams = append(s.streams, "started "+o.Host)
}

func (s *seen) StreamAbandoned(o ObservedStream[string]) {
	s.streams = append(s.streams, "abandoned "+o.Host)
}

func (s *seen) StreamFinished(o ObservedStream[string]) {
	s.streams = append(s.streams, "finished "+o.Host)
}

func TestSessionWithoutObserversHasNone(t *testing.T) {
	var c vecql.ClusterConfig
	Observers[string]{}.Configure(&c)
	require.Nil(t, c.Pool.ConnectObserver)
	require.Nil(t, hooks.Of(Observers[string]{}.Context(t.Context())))
}

func TestObserversOfTheProgramSeeAllFields(t *testing.T) {
	s := &seen{}
	node := new(cql.Host)
	start, end, failure := time.Unix(1, 0), time.Unix(2, 0), errors.New("refused")
	var c vecql.ClusterConfig
	all := Observers[string]{
		HostOf:  func(of *cql.Host) string { return fmt.Sprint(of == node) },
		Plain:   func(err error) error { return fmt.Errorf("plain: %w", err) },
		Connect: s, Frame: s, Stream: s,
	}
	all.Configure(&c)
	c.Pool.ConnectObserver(vecql.ObservedConnect{Host: node, Start: start, End: end, Err: failure})
	require.Equal(t, []ObservedConnect[string]{{"true", start, end, fmt.Errorf("plain: %w", failure)}}, s.connects)
	exchange := hooks.Of(all.Context(t.Context()))
	header := wire.Header{Version: 4, Flags: 1, Stream: 2, Opcode: 8, Length: 3}
	exchange(t.Context(), node)(hooks.Answer{Header: &header, Start: start})
	exchange(t.Context(), node)(hooks.Answer{Start: start})
	require.Len(t, s.frames, 1)
	require.WithinDuration(t, time.Now(), s.frames[0].End, time.Minute)
	s.frames[0].End = end
	require.Equal(t, []ObservedFrameHeader[string]{{0x84, 1, 2, 8, 3, start, end, "true"}}, s.frames)
	require.Equal(t, []string{"started true", "finished true", "started true", "abandoned true"}, s.streams)
	s.none = true
	exchange(t.Context(), node)(hooks.Answer{Header: &header})
	require.Len(t, s.streams, 4)
	require.Len(t, s.frames, 2)
	all.Frame, all.Stream = nil, s
	hooks.Of(all.Context(t.Context()))(t.Context(), node)(hooks.Answer{Header: &header})
	require.Len(t, s.frames, 2)
}
