// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A tool is a program that loads and unloads tables.
type tool struct {
	name   string // the driver of the results
	format string // of the files that it reads and writes
	load   func(j job) []string
	unload func(j job) []string
}

// A job is one run of a tool.
type job struct {
	host, port string
	table      data
	file       string // to read
	folder     string // to write to; empty
}

// tools returns the tools that are there: vecql is the path of the vecql command; the environment names cqlsh and the
// class path of dsbulk.
func tools(vecql string) []tool {
	list := []tool{ours("vecql", "csv", vecql), ours("vecql-parquet", "parquet", vecql)}
	if classes := os.Getenv("DSBULK_CLASSPATH"); classes != "" {
		list = append(list, dsbulk(classes))
	}
	if path := os.Getenv("CQLSH"); path != "" {
		list = append(list, cqlsh(path))
	}
	return list
}

func ours(name, format, vecql string) tool {
	cluster := func(j job) []string {
		return []string{"--hosts", net.JoinHostPort(j.host, j.port), "--progress", "none"}
	}
	return tool{
		name, format,
		func(j job) []string {
			return append([]string{vecql, "load", j.table.qualified(), j.file}, cluster(j)...)
		},
		func(j job) []string {
			return append([]string{vecql, "unload", j.table.qualified(), j.folder, "--format", format}, cluster(j)...)
		},
	}
}

func dsbulk(classes string) tool {
	command := func(verb string, j job, url string) []string {
		return []string{
			"java", "-cp", classes, "com.datastax.oss.dsbulk.runner.DataStaxBulkLoader", verb, "-url", url,
			"-k", j.table.keyspace(), "-t", j.table.name, "-h", j.host, "-port", j.port, "-header", "true",
			"--log.directory", filepath.Join(filepath.Dir(j.folder), "dsbulk"), "--connector.csv.maxCharsPerColumn", "-1",
		}
	}
	return tool{
		"dsbulk", "csv",
		func(j job) []string { return command("load", j, j.file) },
		func(j job) []string { return command("unload", j, j.folder) },
	}
}

// cqlsh returns COPY of cqlsh. Its default of 20 rows a batch is more than servers accept for embeddings as lists.
func cqlsh(path string) tool {
	command := func(j job, copied string) []string {
		statement := "COPY " + j.table.qualified() + " (" + columnNames(j.table) + ") " + copied
		return []string{path, j.host, j.port, "-e", statement}
	}
	return tool{
		"cqlsh", "csv",
		func(j job) []string { return command(j, "FROM '"+j.file+"' WITH HEADER = true AND MAXBATCHSIZE = 10") },
		func(j job) []string {
			return command(j, "TO '"+filepath.Join(j.folder, "all.csv")+"' WITH HEADER = true")
		},
	}
}

func columnNames(d data) string { return strings.Join(names(d.batch(0, 1)), ", ") }

// A cost is what a run of a tool took.
type cost struct{ wall, cpu time.Duration }

// run runs a command and returns its cost, including the cost of its children.
func run(ctx context.Context, argv []string) (cost, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	start := time.Now()
	err := c.Run()
	took := cost{wall: time.Since(start)}
	if c.ProcessState != nil {
		took.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return took, fmt.Errorf("%s: %w\n%s", filepath.Base(argv[0]), err, last(out.String(), 2000))
	}
	return took, err
}

func last(s string, n int) string { return s[max(0, len(s)-n):] }
