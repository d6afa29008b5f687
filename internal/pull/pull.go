// SPDX-License-Identifier: Apache-2.0

// Package pull turns an iterator into functions that any goroutine, on any thread of the operating system, may call.
// [iter.Pull2] does not allow that: its coroutine ends the process if the thread of the caller is locked otherwise than
// the one that made it. Callbacks of C are on locked threads.
package pull

import "iter"

// Seq2 is [iter.Pull2], with a goroutine in place of a coroutine. next returns the next pair, and stop ends the
// iteration. The goroutine starts with the first next, and ends with the iteration or stop. A panic of seq is passed on
// to the caller of next or stop. next and stop must not be called at the same time.
func Seq2[K, V any](seq iter.Seq2[K, V]) (next func() (K, V, bool), stop func()) {
	p := &puller[K, V]{seq: seq, pairs: make(chan pair[K, V]), answers: make(chan bool)}
	return p.next, p.stop
}

type pair[K, V any] struct {
	key   K
	value V
}

// A puller runs an iterator on a goroutine.
type puller[K, V any] struct {
	seq     iter.Seq2[K, V]
	pairs   chan pair[K, V] // closed at the end of seq
	answers chan bool       // to each pair: whether the iteration goes on
	begun   bool            // the goroutine has started
	ended   bool
	failure any // the panic of seq; valid when pairs is closed
}

func (p *puller[K, V]) next() (k K, v V, ok bool) {
	switch {
	case p.ended:
		return k, v, false
	case !p.begun:
		p.begun = true
		go p.run()
	default:
		p.answers <- true
	}
	got, ok := <-p.pairs
	if !ok {
		p.end()
	}
	return got.key, got.value, ok
}

func (p *puller[K, V]) stop() {
	if p.ended {
		return
	}
	if !p.begun {
		p.ended = true
		return
	}
	p.answers <- false
	<-p.pairs
	p.end()
}

// end notes the end of the iterator, and passes its panic on.
func (p *puller[K, V]) end() {
	p.ended = true
	if p.failure != nil {
		panic(p.failure)
	}
}

// run runs the iterator.
func (p *puller[K, V]) run() {
	defer close(p.pairs)
	defer func() { p.failure = recover() }()
	more := true
	p.seq(func(k K, v V) bool {
		if !more {
			panic("pull: the iterator goes on after the end of its loop")
		}
		p.pairs <- pair[K, V]{k, v}
		more = <-p.answers
		return more
	})
}
