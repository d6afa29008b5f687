// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A Budget beside a model of its rules: lists of requests, in virtual time.

// A modelRequest is a request of a model. It waits, is in flight, has an answer that is held, or is gone.
type modelRequest struct {
	size     int64
	kind     int
	cancel   context.CancelFunc
	outcome  <-chan error
	admitted bool
	held     int64
}

// A budgetModel has the requests of each state, and the time of the next tick.
type budgetModel struct {
	limit                    int64
	waiting, flying, holding []*modelRequest // waiting in order of arrival
	arriving                 int64           // parts of answers
	peak                     int64
	freed                    bool
	next                     time.Time // zero means that no request waits for held memory
	waits, overdrawn         uint64
}

func (m *budgetModel) inFlight() int64 {
	sum := m.arriving
	for _, r := range m.flying {
		sum += r.size
	}
	return sum
}

func (m *budgetModel) held() (sum int64) {
	for _, r := range m.holding {
		sum += r.held
	}
	return sum
}

// fits reports whether a request fits beside a number of bytes in flight.
func (m *budgetModel) fits(inFlight int64, r *modelRequest) bool {
	used, most := inFlight, m.limit
	if r.kind != passing {
		used += m.held()
	}
	if r.kind == largePage {
		most = m.limit - m.limit/4
	}
	return used == 0 || used+r.size <= most
}

func (m *budgetModel) admit(r *modelRequest) {
	r.admitted = true
	m.waiting = slices.DeleteFunc(m.waiting, func(w *modelRequest) bool { return w == r })
	m.flying = append(m.flying, r)
	m.peak = max(m.peak, m.inFlight()+m.held())
	m.setTicks()
}

// settle admits requests until the first one that does not wait for held memory does not fit.
func (m *budgetModel) settle() {
	for {
		i := slices.IndexFunc(m.waiting, func(r *modelRequest) bool {
			first := m.waiting[slices.IndexFunc(m.waiting, func(o *modelRequest) bool { return o.kind == r.kind })]
			return r == first && m.fits(0, r)
		})
		if i < 0 || !m.fits(m.inFlight(), m.waiting[i]) {
			return
		}
		m.admit(m.waiting[i])
	}
}

// setTicks starts and stops the ticks.
func (m *budgetModel) setTicks() {
	holders := slices.ContainsFunc(m.waiting, func(r *modelRequest) bool { return r.kind != passing })
	switch {
	case !holders:
		m.next = time.Time{}
	case m.next.IsZero():
		m.freed, m.next = false, time.Now().Add(time.Second)
	}
}

// tick admits one request that waits for held memory if none was released for a second.
func (m *budgetModel) tick() {
	at := m.next
	if !m.freed {
		for _, kind := range []int{smallPage, largePage} {
			i := slices.IndexFunc(m.waiting, func(r *modelRequest) bool { return r.kind == kind })
			if i >= 0 && !m.fits(0, m.waiting[i]) {
				m.overdrawn++
				m.admit(m.waiting[i])
				break
			}
		}
	}
	if m.freed = false; !m.next.IsZero() {
		m.next = at.Add(time.Second)
	}
}

// pick returns a random request of a list, nil if there is none.
func pick(r *rand.Rand, list []*modelRequest) *modelRequest {
	if len(list) == 0 {
		return nil
	}
	return list[r.IntN(len(list))]
}

func without(list []*modelRequest, r *modelRequest) []*modelRequest {
	return slices.DeleteFunc(list, func(o *modelRequest) bool { return o == r })
}

// step does one random thing to the budget and to the model.
func (m *budgetModel) step(r *rand.Rand, b *Budget, all *[]*modelRequest) {
	switch r.IntN(9) {
	case 0, 1, 2:
		ctx, cancel := context.WithCancel(context.Background())
		q := &modelRequest{size: 1 + r.Int64N([]int64{m.limit / 16, m.limit / 2, m.limit * 5 / 4}[r.IntN(3)]), cancel: cancel}
		page := r.IntN(3) > 0
		switch {
		case page && q.size*16 <= m.limit:
			q.kind = smallPage
		case page:
			q.kind = largePage
		}
		*all = append(*all, q)
		m.waiting = append(m.waiting, q)
		m.setTicks()
		m.settle()
		if !q.admitted {
			m.waits++
		}
		q.outcome = inLine(ctx, b, q.size, page, 0)
	case 3, 4:
		if q := pick(r, m.flying); q != nil {
			answer := int64(0)
			if q.kind != passing {
				answer = r.Int64N(2 * q.size)
			}
			m.flying = without(m.flying, q)
			if q.held = answer; answer > 0 {
				m.holding = append(m.holding, q)
			}
			if answer > q.size {
				m.peak = max(m.peak, m.inFlight()+m.held())
			}
			m.settle()
			b.Answered(q.size, answer)
		}
	case 5:
		if q := pick(r, m.holding); q != nil {
			m.holding = without(m.holding, q)
			m.freed = m.freed || len(m.waiting) > 0
			m.settle()
			b.ReleaseHeld(q.held)
		}
	case 6:
		if q := pick(r, m.waiting); q != nil {
			m.waiting = without(m.waiting, q)
			m.setTicks()
			m.settle()
			q.cancel()
		}
	case 7:
		if size := r.Int64N(m.limit / 4); m.arriving == 0 {
			m.arriving = size
			m.peak = max(m.peak, m.inFlight()+m.held())
			b.Add(size)
		} else {
			size = m.arriving
			m.arriving = 0
			m.settle()
			b.Release(size)
		}
	default:
		d := time.Duration(1 + r.Int64N(int64(1500*time.Millisecond)))
		for end := time.Now().Add(d); !m.next.IsZero() && m.next.Before(end); {
			time.Sleep(time.Until(m.next))
			synctest.Wait()
			m.tick()
		}
		time.Sleep(time.Duration(1 + r.Int64N(1000)))
	}
	synctest.Wait()
}

// TestBudgetModel compares a budget with the model after each of many random steps.
func TestBudgetModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 60 {
		synctest.Test(t, func(t *testing.T) {
			closed, closeBudget := context.WithCancel(t.Context())
			m := &budgetModel{limit: 32 + r.Int64N(1000)}
			b := NewBudget(m.limit, closed.Done())
			var all []*modelRequest
			for range 150 {
				m.step(r, b, &all)
				use := b.Usage()
				require.Equal(t, m.inFlight(), use.InFlight)
				require.Equal(t, m.held(), use.Held)
				require.Equal(t, len(m.waiting), use.Waiting)
				require.Equal(t, m.waits, use.Waits)
				require.Equal(t, m.overdrawn, use.Overdrawn)
				require.Equal(t, m.peak, use.Peak)
				for _, q := range m.flying {
					require.True(t, len(q.outcome) == 1)
				}
				for _, q := range m.waiting {
					require.Empty(t, q.outcome)
				}
				size := r.Int64N(m.limit)
				require.Equal(t, len(m.waiting) > 0 || !m.fits(m.inFlight(), &modelRequest{size: size}), b.Full(size, false))
			}
			closeBudget()
			synctest.Wait()
			for _, q := range all {
				q.cancel()
			}
		})
	}
}
