// SPDX-License-Identifier: Apache-2.0

// Package fakehttp controls a cluster of package cqltest over HTTP, so that tests in any language can change its nodes,
// inject faults and check what clients have sent.
//
// Bodies and answers are JSON, except that POST /cql and POST /query take CQL. An error is {"error": "..."}, with the
// status 400 for a bad request and 404 for an unknown node or fault. Handler.Help lists the requests.
package fakehttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/cqltext"
)

// Help lists the requests. GET / answers with it.
const Help = `GET    /nodes               the nodes: number, address, whether up, and more
POST   /nodes               add one: {"data_center": "dc1", "rack": "rack1"}
DELETE /nodes/0             remove a node
POST   /nodes/0/ACTION      kill, restart, pause, resume, disconnect (close
                            connections), forget (prepared statements)
POST   /cql                 execute the CQL of the body, split at ";"
POST   /query               execute one statement, answer with its rows
POST   /faults              inject a fault, answer {"id": 1}; a fault with
                            {"observe": true} only counts requests
POST   /connection-faults   inject a fault of connections
GET    /faults              the faults, each with its number of hits
GET    /faults/1?hits=2&wait=5s
                            one fault, after so many hits or so long
DELETE /faults/1            remove a fault; DELETE /faults removes all
GET    /requests            the last 1000 requests; ?statement=INSERT selects
DELETE /requests            forget them
GET    /stats               counters of requests; DELETE /stats resets them
POST   /clock               move the clock of the cluster: {"step": "10s"}
POST   /tablets             {"move": true} changes all replicas, {"count": 8}
                            splits or merges
`

// A Handler is the HTTP handler of one cluster.
type Handler struct {
	mux     *http.ServeMux
	cluster *cqltest.Cluster
	session *vecql.Session // for POST /query
	log     *Log

	mu     sync.Mutex
	faults map[int]*fault // by id
	last   int            // id
}

// New returns a handler. The session is for POST /query. log receives the requests of the cluster: Config.OnRequest is
// its method Record.
func New(cluster *cqltest.Cluster, session *vecql.Session, log *Log) *Handler {
	h := &Handler{
		mux: http.NewServeMux(), cluster: cluster, session: session, log: log, faults: map[int]*fault{},
	}
	h.handle("GET /{$}", func(*http.Request) (any, error) { return text(Help), nil })
	h.handle("GET /nodes", func(*http.Request) (any, error) { return h.nodes(), nil })
	h.handle("POST /nodes", h.addNode)
	h.handle("DELETE /nodes/{node}", h.removeNode)
	h.handle("POST /nodes/{node}/{action}", h.act)
	h.handle("POST /cql", h.execute)
	h.handle("POST /query", h.query)
	h.handle("POST /faults", h.inject)
	h.handle("POST /connection-faults", h.injectConn)
	h.handle("GET /faults", func(*http.Request) (any, error) { return h.allFaults(), nil })
	h.handle("GET /faults/{id}", h.awaitFault)
	h.handle("DELETE /faults/{id}", h.removeFault)
	h.handle("DELETE /faults", func(*http.Request) (any, error) { h.clearFaults(); return nil, nil })
	h.handle("GET /requests", func(r *http.Request) (any, error) { return log.list(r.FormValue("statement")), nil })
	h.handle("DELETE /requests", func(*http.Request) (any, error) { log.clear(); return nil, nil })
	h.handle("GET /stats", func(*http.Request) (any, error) { return h.stats(), nil })
	h.handle("DELETE /stats", func(*http.Request) (any, error) { cluster.ResetStats(); return nil, nil })
	h.handle("POST /clock", h.stepClock)
	h.handle("POST /tablets", h.changeTablets)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// text is an answer that is not JSON.
type text string

// errNotFound means that a node or a fault does not exist.
var errNotFound = errors.New("not found")

// maxBody is the largest body of a request.
const maxBody = 16 << 20

// handle registers a function whose result is the answer: JSON, text, or nothing.
func (h *Handler) handle(pattern string, f func(*http.Request) (any, error)) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		answer, err := f(r)
		status := http.StatusOK
		switch {
		case errors.Is(err, errNotFound):
			status = http.StatusNotFound
		case err != nil:
			status = http.StatusBadRequest
		case answer == nil:
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if plain, ok := answer.(text); ok {
			_, _ = io.WriteString(w, string(plain)) // the client may have left
			return
		}
		w.Header().Set("Content-Type", "application/json")
		body, err := json.Marshal(answer)
		if err != nil { // such as NaN, which JSON does not have
			status, body = http.StatusBadRequest, fmt.Appendf(nil, "{%q: %q}", "error", err)
		}
		w.WriteHeader(status)
		_, _ = w.Write(append(body, '\n'))
	})
}

// decode reads the JSON of a body. Unknown fields are errors, because they are likely misspelled.
func decode(r *http.Request, to any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil && !errors.Is(err, io.EOF) { // an empty body is {}
		return fmt.Errorf("read the body: %w", err)
	}
	return nil
}

// A nodeInfo is the answer about a node.
type nodeInfo struct {
	Number     int    `json:"number"`
	HostID     string `json:"host_id"`
	Address    string `json:"address"`
	DataCenter string `json:"data_center"`
	Rack       string `json:"rack"`
	Shards     int    `json:"shards"`
	Up         bool   `json:"up"`
}

func infoOf(n *cqltest.Node) nodeInfo {
	return nodeInfo{
		Number: n.Number(), HostID: uuid.UUID(n.HostID()).String(), Address: n.Addr().String(),
		DataCenter: n.DataCenter(), Rack: n.Rack(), Shards: n.Shards(), Up: n.IsUp(),
	}
}

func (h *Handler) nodes() []nodeInfo {
	var list []nodeInfo
	for _, n := range h.cluster.Nodes() {
		list = append(list, infoOf(n))
	}
	return list
}

// node returns the node with a number.
func (h *Handler) node(number int) (*cqltest.Node, error) {
	for _, n := range h.cluster.Nodes() {
		if n.Number() == number {
			return n, nil
		}
	}
	return nil, fmt.Errorf("node %d: %w", number, errNotFound)
}

// pathNode returns the node that the path names.
func (h *Handler) pathNode(r *http.Request) (*cqltest.Node, error) {
	number, err := strconv.Atoi(r.PathValue("node"))
	if err != nil {
		return nil, fmt.Errorf("node %q: %w", r.PathValue("node"), errNotFound)
	}
	return h.node(number)
}

func (h *Handler) addNode(r *http.Request) (any, error) {
	first := h.cluster.Nodes()[0]
	place := struct {
		DataCenter string `json:"data_center"`
		Rack       string `json:"rack"`
	}{first.DataCenter(), first.Rack()}
	if err := decode(r, &place); err != nil {
		return nil, err
	}
	n, err := h.cluster.AddNode(place.DataCenter, place.Rack)
	if err != nil {
		return nil, err
	}
	return infoOf(n), nil
}

func (h *Handler) removeNode(r *http.Request) (any, error) {
	n, err := h.pathNode(r)
	if err != nil {
		return nil, err
	}
	if len(h.cluster.Nodes()) == 1 {
		return nil, errors.New("the only node cannot be removed")
	}
	h.cluster.RemoveNode(n)
	return nil, nil
}

// act changes the state of a node.
func (h *Handler) act(r *http.Request) (any, error) {
	n, err := h.pathNode(r)
	if err != nil {
		return nil, err
	}
	switch action := r.PathValue("action"); action {
	case "kill":
		n.Kill()
	case "restart":
		err = n.Restart()
	case "pause":
		n.Pause()
	case "resume":
		n.Resume()
	case "disconnect":
		n.CloseConns()
	case "forget":
		n.Forget()
	default:
		return nil, fmt.Errorf("action %q: %w", action, errNotFound)
	}
	if err != nil {
		return nil, err
	}
	return infoOf(n), nil
}

func (h *Handler) execute(r *http.Request) (any, error) {
	cql, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return nil, h.cluster.Exec(string(cql))
}

// query executes a statement as a client does, and returns its rows.
func (h *Handler) query(r *http.Request) (any, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	statements := cqltext.Statements(string(text))
	if len(statements) != 1 {
		return nil, fmt.Errorf("the body has %d statements, want one", len(statements))
	}
	it := h.session.Query(statements[0]).Iter(r.Context())
	rows, err := it.SliceMap()
	if err != nil {
		return nil, err
	}
	if rows == nil {
		rows = []map[string]any{}
	}
	return rows, nil
}

// stats returns the counters with opcodes by name.
func (h *Handler) stats() any {
	s := h.cluster.Stats()
	requests := map[string]int{}
	for op, n := range s.Requests {
		requests[op.String()] = n
	}
	return map[string]any{
		"requests": requests, "routable": s.Routable, "on_replica": s.OnReplica, "on_shard": s.OnShard,
		"unavailable": s.Unavailable, "tablet_hints": s.TabletHints,
	}
}

func (h *Handler) stepClock(r *http.Request) (any, error) {
	var clock struct {
		Step duration `json:"step"`
	}
	if err := decode(r, &clock); err != nil {
		return nil, err
	}
	h.cluster.StepClock(clock.Step.Duration)
	return nil, nil
}

func (h *Handler) changeTablets(r *http.Request) (any, error) {
	var change struct {
		Move  bool `json:"move"`
		Count int  `json:"count"`
	}
	if err := decode(r, &change); err != nil {
		return nil, err
	}
	if change.Count > 0 {
		h.cluster.SetTablets(change.Count)
	}
	if change.Move {
		h.cluster.MoveTablets()
	}
	return nil, nil
}
