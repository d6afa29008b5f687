// SPDX-License-Identifier: Apache-2.0

package fakehttp

import (
	"strings"
	"sync"

	"github.com/vecql/vecql/cqltest"
)

// maxRequests is the number of requests that a Log keeps.
const maxRequests = 1000

// A Log keeps the last requests of a cluster. Its zero value is empty.
type Log struct {
	mu       sync.Mutex
	requests []kept // the oldest first, from next on
	next     int    // position of the next request once there are maxRequests
}

// kept is a request of a Log. Its values become text when it is listed: most requests never are.
type kept struct {
	request
	values []cqltest.Value
}

// A request is the answer about a request of a client.
type request struct {
	Node      int     `json:"node"`
	Op        string  `json:"op"`
	Statement string  `json:"statement,omitempty"`
	Values    []value `json:"values,omitempty"`
	OnReplica bool    `json:"on_replica"`
	OnShard   bool    `json:"on_shard"`
}

// A value is a bound value.
type value struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value string `json:"value"` // a CQL literal; "unset"
}

// Record is a Config.OnRequest. It keeps requests with a statement, except those about the system tables, which drivers
// send of themselves.
func (l *Log) Record(r cqltest.Request) {
	if r.Statement == "" || strings.Contains(r.Statement, "system.") || strings.Contains(r.Statement, "system_") {
		return
	}
	k := kept{values: r.Values, request: request{
		Node: r.Node.Number(), Op: r.Op.String(), Statement: r.Statement, OnReplica: r.OnReplica, OnShard: r.OnShard,
	}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.requests) < maxRequests {
		l.requests = append(l.requests, k)
		return
	}
	l.requests[l.next] = k
	l.next = (l.next + 1) % maxRequests
}

// list returns the requests whose statement contains a text, the oldest first.
func (l *Log) list(statement string) []request {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []request{}
	for i := range l.requests {
		if k := &l.requests[(l.next+i)%len(l.requests)]; strings.Contains(k.Statement, statement) {
			list = append(list, k.answer())
		}
	}
	return list
}

// answer returns the request with its values as text.
func (k *kept) answer() request {
	r := k.request
	for _, v := range k.values {
		text := v.Text()
		if v.Unset {
			text = "unset"
		}
		r.Values = append(r.Values, value{v.Name, v.Type, text})
	}
	return r
}

func (l *Log) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.next = nil, 0
}
