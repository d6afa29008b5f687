// SPDX-License-Identifier: Apache-2.0

// Command run measures the latencies of drivers at a fixed rate. The arguments are the server (cmd/nullserver) and the
// load programs of drivers (bench/stall). It writes latency.jsonl, latency.md and latency.svg to a folder.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/latency"
	"github.com/vecql/vecql/bench/stall"
	"github.com/vecql/vecql/bench/workload"
)

type options struct {
	latency.Conditions
	warmup        time.Duration
	rate          int
	folder        string
	addr, cert    string
	pinned        bool // the server has core 0, the programs core 1
	programs      []string
	serverProgram string
}

func main() {
	var o options
	flag.StringVar(&o.Commit, "commit", "", "commit of vecql, for the report")
	flag.DurationVar(&o.Duration, "duration", 10*time.Second, "time for which a program sends requests")
	flag.DurationVar(&o.warmup, "warmup", 2*time.Second, "time before, for which requests do not count")
	flag.IntVar(&o.Turns, "turns", 3, "runs of each program and case")
	flag.IntVar(&o.rate, "rate", 0, "requests per second; 0 means a third of the least peak of the programs")
	flag.StringVar(&o.folder, "out", "results", "folder of the results")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: run [flags] nullserver program...")
		os.Exit(2)
	}
	o.serverProgram, o.programs = flag.Arg(0), flag.Args()[1:]
	o.Date, o.Cores = time.Now().Format(time.DateOnly), runtime.NumCPU()
	o.Go, o.Processor = runtime.Version(), stall.Processor()
	o.pinned = exec.Command("taskset", "-c", "0,1", "true").Run() == nil
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run measures all programs and writes the results.
func run(o options) (err error) {
	var stop func()
	if o.addr, o.cert, stop, err = workload.Start(o.command(0, o.serverProgram)); err != nil {
		return err
	}
	defer stop()
	f, err := os.Create(filepath.Join(o.folder, "latency.jsonl"))
	if err != nil {
		return err
	}
	lines := json.NewEncoder(f)
	err = lines.Encode(o.Conditions)
	var all []latency.Sample
	for _, kind := range []string{"insert", "vector"} {
		for _, net := range []string{"plain", "tls"} {
			if err == nil {
				var samples []latency.Sample
				samples, err = measure(o, kind, net, lines)
				all = append(all, samples...)
			}
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	md, svg := latency.Report(o.Conditions, all)
	return errors.Join(os.WriteFile(filepath.Join(o.folder, "latency.md"), []byte(md), 0o644),
		os.WriteFile(filepath.Join(o.folder, "latency.svg"), []byte(svg), 0o644))
}

// measure runs all programs in turn with one case.
func measure(o options, kind, net string, lines *json.Encoder) (samples []latency.Sample, err error) {
	rate := o.rate
	if rate == 0 {
		for _, program := range o.programs {
			r, err := o.load(program, kind, net, "-closed", "64", "-duration", max(o.Duration/5, time.Second).String())
			if err != nil {
				return nil, err
			}
			fmt.Printf("%s %s %s: peak %d/s\n", kind, net, filepath.Base(program), r.Rate)
			if rate == 0 || r.Rate < rate {
				rate = r.Rate
			}
		}
		rate = max(rate/3, 1)
	}
	for turn := range o.Turns {
		first := turn % len(o.programs) // another program in each turn
		for _, program := range slices.Concat(o.programs[first:], o.programs[:first]) {
			r, err := o.load(program, kind, net, "-rate", strconv.Itoa(rate), "-duration", o.Duration.String(),
				"-warmup", o.warmup.String())
			if err != nil {
				return nil, err
			}
			s := latency.Measure(r)
			s.Case, s.Net, s.Turn = kind, net, turn
			fmt.Printf("%s %s %d/s turn %d %s: %d of %d failed, p50, p99, p99.9: %v µs\n", kind, net, rate, turn, s.Driver, s.Failed,
				s.Requests, s.Latencies)
			if err := lines.Encode(s); err != nil {
				return nil, err
			}
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// command returns a program that has a core of its own if that is possible.
func (o options) command(core int, program string, args ...string) *exec.Cmd {
	if o.pinned {
		return exec.Command("taskset", append([]string{"-c", strconv.Itoa(core), program}, args...)...)
	}
	return exec.Command(program, args...)
}

// load runs a load program.
func (o options) load(program, kind, net string, flags ...string) (r stall.Run, err error) {
	args := append([]string{"-hosts", o.addr, "-table", workload.LoadTable, "-case", kind}, flags...)
	if net == "tls" {
		args = append(args, "-cert", o.cert)
	}
	cmd := o.command(1, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.NewDecoder(bufio.NewReader(strings.NewReader(secondLine(out)))).Decode(&r)
	}
	if err != nil {
		err = fmt.Errorf("%s %s over %s: %w", filepath.Base(program), kind, net, err)
	}
	return r, err
}

// secondLine returns the result of a load program, which follows the time of its first request.
func secondLine(out []byte) string {
	_, rest, _ := strings.Cut(string(out), "\n")
	return rest
}
