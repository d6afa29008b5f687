// SPDX-License-Identifier: Apache-2.0

// Command run starts three nodes and runs load programs in turn, each with a pause of one node in its middle. The
// arguments are the programs. Their figures are the lines of a file; command report makes tables of them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/bench/stall"
	"github.com/vecql/vecql/internal/cassandra"
)

// options are the flags.
type options struct {
	stall.Conditions
	warmup   time.Duration
	servers  []string
	cases    []string
	rates    []int
	keys     int
	out      string
	programs []string
}

func main() {
	o, err := parse()
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		err = run(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse() (o options, err error) {
	servers, cases, rates := "", "", ""
	flag.StringVar(&o.Commit, "commit", "", "commit of vecql, for the report")
	flag.DurationVar(&o.Duration, "duration", 10*time.Second, "time for which a program sends requests")
	flag.DurationVar(&o.Pause, "pause", 2*time.Second, "time for which a node does not run, in the middle")
	flag.DurationVar(&o.Timeout, "timeout", time.Second, "timeout of requests")
	flag.IntVar(&o.Turns, "turns", 3, "runs of each program and case")
	flag.DurationVar(&o.warmup, "warmup", 3*time.Second, "time before, for which requests do not count")
	flag.StringVar(&servers, "servers", "cassandra,cqltest", "nodes: cassandra, cqltest")
	flag.StringVar(&cases, "cases", "read,insert", "read, insert")
	flag.StringVar(&rates, "rates", "500,2000", "requests per second")
	flag.IntVar(&o.keys, "keys", 1000, "rows of the table")
	flag.StringVar(&o.out, "out", "results/stall.jsonl", "file for the figures")
	flag.Parse()
	o.servers, o.cases, o.programs = strings.Split(servers, ","), strings.Split(cases, ","), flag.Args()
	for _, rate := range strings.Split(rates, ",") {
		n, err := strconv.Atoi(rate)
		if err != nil || n <= 0 {
			return o, fmt.Errorf("-rates: %q is not a positive number", rate)
		}
		o.rates = append(o.rates, n)
	}
	if len(o.programs) == 0 {
		return o, errors.New("run: no argument: the programs to run")
	}
	o.Date, o.Cores, o.Go = time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.Version()
	o.Cassandra, o.Processor = cassandra.Version, stall.Processor()
	return o, nil
}

// run writes the conditions and then a line for each run of a program.
func run(ctx context.Context, o options) error {
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(f)
	err = lines.Encode(o.Conditions)
	for _, name := range o.servers {
		if err == nil {
			err = runOn(ctx, o, name, lines)
		}
	}
	return errors.Join(err, f.Close())
}

// runOn runs all programs on nodes of one kind.
func runOn(ctx context.Context, o options, name string, lines *json.Encoder) (err error) {
	c, err := startCluster(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := fill(ctx, c, o.keys); err != nil {
		return err
	}
	for _, kind := range o.cases { // the servers compile their code
		for _, program := range o.programs {
			if _, err := runProgram(ctx, o, c, load{program, kind, o.rates[len(o.rates)-1], -1}); err != nil {
				return err
			}
		}
	}
	for turn := range o.Turns {
		first := turn % len(o.programs) // another program in each turn
		programs := slices.Concat(o.programs[first:], o.programs[:first])
		for _, kind := range o.cases {
			for _, rate := range o.rates {
				for _, program := range programs {
					s, err := runProgram(ctx, o, c, load{program, kind, rate, turn % len(c.nodes)})
					if err != nil {
						return err
					}
					s.Servers, s.Case, s.Turn = name, kind, turn
					fmt.Printf("%s %s %d/s turn %d %s: %d of %d failed, p99 %v before, %v and %v within, %v after, recovery %v, %d %s\n",
						name, kind, rate, turn, s.Driver, s.Failed, s.Requests, us(s.P99Before), us(s.P99First), us(s.P99Rest),
						us(s.P99After), us(s.Recovery), s.Peak, s.PeakOf)
					if err := lines.Encode(s); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// A load is one run of a program.
type load struct {
	program string
	kind    string // case
	rate    int
	victim  int // the node that is paused; -1 means none
}

// runProgram runs a program, and pauses a node in the middle of its requests. It waits for a second afterwards, so that
// the nodes finish their work.
func runProgram(ctx context.Context, o options, c *cluster, l load) (stall.Sample, error) {
	fail := func(err error) (stall.Sample, error) {
		return stall.Sample{}, fmt.Errorf("%s: %w", filepath.Base(l.program), err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.warmup+o.Duration+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program, "-hosts", strings.Join(c.hosts, ","), "-table", table, "-case", l.kind,
		"-rate", strconv.Itoa(l.rate), "-duration", o.Duration.String(), "-warmup", o.warmup.String(),
		"-timeout", o.Timeout.String(), "-keys", strconv.Itoa(o.keys))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	out := bufio.NewReader(stdout)
	sample, err := observe(o, c, out, l.victim)
	if err != nil {
		cancel()
	}
	_, _ = io.Copy(io.Discard, out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fail(err)
	}
	time.Sleep(time.Second)
	return sample, nil
}

// observe reads the output of a program, and pauses the node meanwhile.
func observe(o options, c *cluster, out *bufio.Reader, victim int) (stall.Sample, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return stall.Sample{}, fmt.Errorf("read the start: %w", err)
	}
	began, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return stall.Sample{}, fmt.Errorf("read the start: %w", err)
	}
	pause := time.UnixMicro(began).Add((o.Duration - o.Pause) / 2)
	resume := pause.Add(o.Pause)
	if victim >= 0 {
		time.Sleep(time.Until(pause))
		pause = time.Now()
		if err := c.nodes[victim].Pause(); err != nil {
			return stall.Sample{}, err
		}
		time.Sleep(time.Until(resume))
		resume = time.Now()
		if err := c.nodes[victim].Resume(); err != nil {
			return stall.Sample{}, err
		}
	}
	var r stall.Run
	if err := json.NewDecoder(out).Decode(&r); err != nil {
		return stall.Sample{}, fmt.Errorf("read the result: %w", err)
	}
	return stall.Measure(r, pause, resume), nil
}
