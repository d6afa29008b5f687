// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/top"
)

// The verb top: what the nodes of a cluster do now.

// The time between two samples, on a terminal and with --once.
const (
	topInterval  = 2 * time.Second
	onceInterval = time.Second
)

// mostTables is the number of tables that top shows.
const mostTables = 10

// newTopCommand returns the verb top.
func newTopCommand(e *env) *cobra.Command {
	once := false
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the requests and tasks of the nodes, live",
		Long: `Top shows what the nodes of a Cassandra cluster do, anew every two seconds until
Ctrl-C: connections of clients, requests a second, how long the node takes to answer
top, tasks of the thread pools that run, wait or are blocked, and tasks on files,
such as compactions; and the ten busiest tables, with the reads and writes a second
that the nodes coordinate. --once prints what happens in one second.

It reads the virtual tables in system_views, which Cassandra has since 4.0 and
ScyllaDB has not.`,
		Example: `  vecql top --hosts 10.0.0.1
  vecql top --once --profile production`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.top(c.Context(), once) },
	}
	e.addClusterFlags(c)
	c.Flags().BoolVar(&once, "once", false, "print what happens in one second, and end")
	return c
}

// top executes the verb.
func (e *env) top(ctx context.Context, once bool) error {
	if !once && !e.isTerminal {
		return usagef("standard output is no terminal: use --once")
	}
	session, _, err := e.connectAll(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	interval := topInterval
	if once {
		interval = onceInterval
	}
	for before := (*top.Sample)(nil); ; {
		now, err := top.Take(ctx, session)
		switch {
		case ctx.Err() != nil && once:
			return ctx.Err()
		case ctx.Err() != nil:
			return nil // Ctrl-C is how top ends
		case err != nil:
			return err
		case before != nil && once:
			return e.printTop(e.out, now.Since(before))
		case before != nil:
			if err := e.redrawTop(now.Since(before)); err != nil {
				return err
			}
		}
		before = now
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
	}
}

// redrawTop replaces the last report on the terminal.
func (e *env) redrawTop(r top.Report) error {
	var text bytes.Buffer
	if err := e.printTop(&text, r); err != nil {
		return err
	}
	const home, restOfLine, restOfScreen = "\x1b[H", "\x1b[K", "\x1b[J"
	lines := strings.ReplaceAll(text.String(), "\n", restOfLine+"\n")
	_, err := io.WriteString(e.raw, home+lines+restOfScreen)
	return err
}

// printTop prints a report as two tables.
func (e *env) printTop(w io.Writer, r top.Report) error {
	nodes := newTable("node", ">clients", ">requests/s", ">answer_ms", ">active", ">pending", ">blocked", "file tasks")
	for _, n := range r.Nodes {
		if n.Err != nil {
			nodes.add(n.Address, "", "", "", "", "", "", "no answer: "+strings.TrimPrefix(n.Err.Error(), "vecql: "))
			continue
		}
		answer := strconv.FormatFloat(float64(n.Answer)/float64(time.Millisecond), 'f', 1, 64)
		nodes.add(n.Address, strconv.Itoa(n.Clients), perSecond(n.Requests), answer, strconv.FormatInt(n.Active, 10),
			strconv.FormatInt(n.Pending, 10), strconv.FormatInt(n.Blocked, 10), countKinds(n.Tasks))
	}
	if err := nodes.write(w, e.width); err != nil {
		return err
	}
	tables := newTable("table", ">reads/s", ">writes/s")
	for _, t := range r.Tables[:min(mostTables, len(r.Tables))] {
		tables.add(t.Name, perSecond(t.Reads), perSecond(t.Writes))
	}
	fmt.Fprintln(w)
	if err := tables.write(w, e.width); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s with requests\n", counted(len(r.Tables), "table"))
	return err
}

// perSecond formats a rate.
func perSecond(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// countKinds returns words with their numbers: "2 compaction, 1 cleanup".
func countKinds(words []string) string {
	counts := map[string]int{}
	for _, w := range words {
		counts[w]++
	}
	var parts []string
	for word, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, word))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
