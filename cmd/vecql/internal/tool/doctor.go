// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vecql/vecql/cmd/vecql/internal/doctor"
)

// The verb doctor: what is wrong or slow in a cluster.

// newDoctorCommand returns the verb doctor.
func newDoctorCommand(e *env) *cobra.Command {
	probes := 0
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Examine the nodes of a cluster",
		Long: `Doctor asks every node: whether it answers, how fast, with which version, schema,
clock and certificate, and how keyspaces are replicated. It prints what is wrong or
slow, and what to do about it. The exit code is 1 if there is a problem; advice
alone is no problem.

A bar of the histogram is twice as slow as the one before: up to 0.125 ms, up to
0.25 ms, and so on; the last one is above 128 ms.`,
		Example: `  vecql doctor --hosts 10.0.0.1
  vecql doctor --profile production --output json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.doctor(c.Context(), probes) },
	}
	e.addClusterFlags(c)
	c.Flags().StringVarP(&e.output, "output", "o", "table", "`format` of the result: table or json")
	must(c.RegisterFlagCompletionFunc("output",
		cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp)))
	c.Flags().IntVar(&probes, "probes", 20, "`requests` to each node")
	return c
}

// doctor executes the verb.
func (e *env) doctor(ctx context.Context, probes int) error {
	switch {
	case probes < 1:
		return usagef("--probes is %d, want at least 1", probes)
	case e.output != "table" && e.output != "json":
		return usagef("--output is %q, want table or json", e.output)
	}
	session, cfg, err := e.connectAll(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	r := doctor.Examine(ctx, session, doctor.Options{
		Probes: probes, Timeout: e.flags.timeout, TLS: cfg.TLS, Password: e.flags.user != "",
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if e.output == "json" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Fprintf(e.out, "%s\n", text)
	} else if err := e.printExamination(r); err != nil {
		return err
	}
	if n := r.Problems(); n > 0 {
		return fmt.Errorf("%s", counted(n, "problem"))
	}
	return nil
}

// printExamination prints a report as text.
func (e *env) printExamination(r *doctor.Report) error {
	fmt.Fprintf(e.text, "Cluster %s: %s, protocol v%d.\n\n", r.Cluster, counted(len(r.Nodes), "node"), r.Protocol)
	if err := nodeTable(r).write(e.out, e.width); err != nil {
		return err
	}
	if len(r.Keyspaces) > 0 {
		fmt.Fprintln(e.out)
		t := newTable("keyspace", "replication", ">tables", ">tablets")
		for _, k := range r.Keyspaces {
			t.add(k.Name, k.Strategy+" "+factors(k.Factors), strconv.Itoa(k.Tables), strconv.Itoa(k.Tablets))
		}
		if err := t.write(e.out, e.width); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.out)
	for _, f := range r.Findings {
		fmt.Fprintf(e.text, "%s: %s\n  %s\n", f.Severity, f.What, f.Do)
	}
	if len(r.Findings) == 0 {
		fmt.Fprintln(e.out, "Nothing is wrong.")
	}
	return nil
}

// factors returns replication factors as text.
func factors(f map[string]int) string {
	var parts []string
	for _, dc := range slices.Sorted(maps.Keys(f)) {
		parts = append(parts, strings.TrimPrefix(dc+":", ":")+strconv.Itoa(f[dc]))
	}
	return strings.Join(parts, ",")
}

// nodeTable returns a table of the nodes. Columns that no node has a value of are left out.
func nodeTable(r *doctor.Report) *table {
	columns := []struct {
		name string
		cell func(*doctor.Node) string
	}{
		{"node", func(n *doctor.Node) string { return n.Address }},
		{"data center", func(n *doctor.Node) string { return n.DataCenter }},
		{"version", func(n *doctor.Node) string { return n.Version }},
		{"TLS", tlsText},
		{">shards", func(n *doctor.Node) string { return positive(n.Shards) }},
		{">tablets", func(n *doctor.Node) string { return positive(n.Tablets) }},
		{">p50", func(n *doctor.Node) string { return latency(n, .5) }},
		{">p99", func(n *doctor.Node) string { return latency(n, .99) }},
		{"latencies", func(n *doctor.Node) string { return strings.TrimRight(n.Latency.Bars(), " ") }},
		{">clock", clockText},
	}
	var names []string
	cells := make([][]string, len(r.Nodes))
	for _, c := range columns {
		column := make([]string, len(r.Nodes))
		for i := range r.Nodes {
			column[i] = c.cell(&r.Nodes[i])
		}
		if !slices.ContainsFunc(column, func(s string) bool { return s != "" }) {
			continue
		}
		names = append(names, c.name)
		for i := range cells {
			cells[i] = append(cells[i], column[i])
		}
	}
	t := newTable(names...)
	for _, row := range cells {
		t.add(row...)
	}
	return t
}

func positive(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func tlsText(n *doctor.Node) string {
	switch {
	case n.TLSError != "":
		return "failed"
	case n.TLS != nil:
		return strings.TrimPrefix(n.TLS.Version, "TLS ")
	}
	return ""
}

func latency(n *doctor.Node, q float64) string {
	if n.Error != "" {
		return "-"
	}
	return doctor.Round(n.Latency.Quantile(q)).String()
}

// clockText returns how far the clock of a node is ahead, to the millisecond.
func clockText(n *doctor.Node) string {
	if !n.Clock.Known {
		return "-"
	}
	return fmt.Sprintf("%+dms", n.Clock.Ahead.Round(time.Millisecond).Milliseconds())
}
