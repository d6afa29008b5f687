// SPDX-License-Identifier: Apache-2.0

// Package load is the load program of the Go drivers: an open loop of requests at a fixed rate. The programs of other
// languages have the same flags and the same output.
//
// The output has two lines: the time at which the first request is due, in microseconds since 1970, and after the last
// request a stall.Run as JSON.
package load

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/bench/stall"
	"github.com/vecql/vecql/bench/workload"
)

// Options are the flags of a load program.
type Options struct {
	Hosts    []string
	Table    string
	Case     string // "read", "insert" or "vector"
	Rate     int
	Duration time.Duration
	Warmup   time.Duration // of requests before the first one that counts
	Timeout  time.Duration
	Keys     int                   // rows (k, v) with k = v from 0 to Keys-1
	TLS      *tls.Config           // nil means plain connections
	sleep    func(d time.Duration) // nil means time.Sleep
	closed   int                   // goroutines of a closed loop; 0 means an open loop
}

// ReadStatement returns the statement of case "read". It binds k.
func (o Options) ReadStatement() string { return "SELECT v FROM " + o.Table + " WHERE k = ?" }

// InsertStatement returns the statement of case "insert". It binds k and v.
func (o Options) InsertStatement() string { return "INSERT INTO " + o.Table + " (k, v) VALUES (?, ?)" }

// VectorStatement returns the statement of case "vector". It binds k.
func (o Options) VectorStatement() string { return "SELECT v FROM " + o.Table + "_vectors WHERE k = ?" }

// A Client is a session of a driver.
type Client interface {
	Read(key int) (value int, err error)
	ReadVector(key int) ([]float32, error)
	Insert(key, value int) error
}

// Main is the main function of a load program. module is the path of the driver's module.
func Main(name, module string, connect func(o Options) (Client, error)) {
	var o Options
	hosts := ""
	flag.StringVar(&hosts, "hosts", "", "contact points, separated by commas")
	flag.StringVar(&o.Table, "table", "stall.t", "keyspace.table with columns k int (primary key) and v int")
	flag.StringVar(&o.Case, "case", "read", "read, insert or vector")
	flag.IntVar(&o.Rate, "rate", 500, "requests per second")
	flag.DurationVar(&o.Duration, "duration", 10*time.Second, "time for which requests start")
	flag.DurationVar(&o.Warmup, "warmup", 3*time.Second, "time before, for which requests start that do not count")
	flag.DurationVar(&o.Timeout, "timeout", time.Second, "timeout of requests")
	flag.IntVar(&o.Keys, "keys", 1000, "rows in the table")
	flag.IntVar(&o.closed, "closed", 0, "goroutines of a closed loop, whose rate is printed; 0 means an open loop")
	cert := flag.String("cert", "", "base64 of the certificate of the server's issuer, DER; none means no TLS")
	flag.Parse()
	o.Hosts = strings.Split(hosts, ",")
	o.sleep = newSleep()
	var err error
	if *cert != "" {
		o.TLS, err = workload.ClientTLS(*cert)
	}
	var client Client
	if err == nil {
		client, err = connect(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	announce := func(start time.Time) { fmt.Println(start.UnixMicro()) }
	var run stall.Run
	if o.closed > 0 {
		announce(time.Now())
		run, err = Closed(o, client)
	} else {
		run = Loop(o, client, announce)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	run.Driver, run.Version = name, version(module)
	if err := json.NewEncoder(os.Stdout).Encode(run); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

// version returns the version of a module in this program, "" for a module of this repository.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path != module {
			continue
		}
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if strings.HasPrefix(dep.Version, "v") && !strings.HasPrefix(dep.Path, ".") {
			return dep.Version
		}
	}
	return ""
}

// Loop sends the requests and returns after the last one has ended. It calls announce with the time at which the first
// request that counts is due.
func Loop(o Options, client Client, announce func(start time.Time)) stall.Run {
	total, warm := int(o.Duration.Seconds()*float64(o.Rate)), int(o.Warmup.Seconds()*float64(o.Rate))
	sleep := o.sleep
	if sleep == nil {
		sleep = time.Sleep
	}
	start := time.Now().Add(o.Warmup)
	announce(start)
	run := stall.Run{
		Start: start.UnixMicro(), Rate: o.Rate, Timeout: o.Timeout.Microseconds(), PeakOf: "goroutines",
		Latencies: make([]int64, total), Errors: map[string]int{},
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		run.Peak = peak(start, stop)
	}()
	var mu sync.Mutex // guards run.Errors
	var wg sync.WaitGroup
	for i := -warm; i < total; i++ {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(o.Rate))
		if wait := time.Until(due); wait > 0 {
			sleep(wait)
		}
		wg.Go(func() {
			err := request(o, client, key(i, o.Keys))
			if i < 0 {
				return
			}
			took := time.Since(due).Microseconds()
			if err != nil {
				took = -max(1, took)
				mu.Lock()
				run.Errors[shorten(err)]++
				mu.Unlock()
			}
			run.Latencies[i] = took
		})
	}
	wg.Wait()
	close(stop)
	<-stopped
	return run
}

// Closed sends requests from o.closed goroutines, each after the response to its last one. It returns a Run with the
// rate reached.
func Closed(o Options, client Client) (stall.Run, error) {
	var sent atomic.Int64
	began := time.Now()
	errEnd := errors.New("the time is over")
	err := workload.InFlight(math.MaxInt, o.closed, func(int) error {
		if time.Since(began) >= o.Duration {
			return errEnd
		}
		return request(o, client, key(int(sent.Add(1)), o.Keys))
	})
	if errors.Is(err, errEnd) {
		err = nil
	}
	return stall.Run{Rate: int(float64(sent.Load()) / time.Since(began).Seconds())}, err
}

// key returns the key of request i. Successive requests have keys of different partitions.
func key(i, keys int) int { return ((i*7919)%keys + keys) % keys }

// request sends a request and checks the row that was read.
func request(o Options, client Client, key int) error {
	switch o.Case {
	case "insert":
		return client.Insert(key, key)
	case "vector":
		v, err := client.ReadVector(key)
		if err == nil && len(v) != workload.Dim {
			err = fmt.Errorf("wrong row: a vector of %d", len(v))
		}
		return err
	}
	v, err := client.Read(key)
	if err == nil && v != key {
		return fmt.Errorf("wrong row: %d", v)
	}
	return err
}

// peak returns the most goroutines between start and the end of stop.
func peak(start time.Time, stop <-chan struct{}) (most int) {
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			if now.After(start) {
				most = max(most, runtime.NumGoroutine())
			}
		case <-stop:
			return most
		}
	}
}

var digits = regexp.MustCompile(`[0-9][0-9.]*`)

// shorten returns the text of an error without numbers, so that errors of one kind are one.
func shorten(err error) string {
	text := digits.ReplaceAllString(err.Error(), "0")
	if line, _, more := strings.Cut(text, "\n"); more {
		text = line
	}
	return text[:min(len(text), 160)]
}
