// SPDX-License-Identifier: Apache-2.0

// Command servers runs the tests that use servers on real nodes of each version of Cassandra with each version of the
// protocol, and writes the table of docs/versions.md from the results:
//
//	go run ./tests/servers                                            # everything
//	go run ./tests/servers -versions 6.0 -protocols 5 -parts '^suite' # a part; the table keeps the other results
//
// The results are in tests/servers/results.json. What the tests print is in .cache/servers-*.log.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/internal/cassandra"
)

// Flags and the order of the runs.

// protocols are the versions of the protocol that the driver and each version of Cassandra speak, the latest first.
var protocols = []string{"5", "4", "3"}

func main() {
	cassandra.Supervise()
	log.SetFlags(log.Ltime)
	versions := flag.String("versions", strings.Join(cassandra.Lines(), ","), "`versions` of Cassandra")
	speak := flag.String("protocols", strings.Join(protocols, ","), "`versions` of the protocol")
	only := flag.String("parts", "", "a `regexp` of the parts to run")
	flag.Parse()
	if err := run(strings.Split(*versions, ","), strings.Split(*speak, ","), *only); err != nil {
		log.Fatal(err)
	}
}

// run runs the parts on each version, and writes the results and the document.
func run(versions, speak []string, only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	commit, err := commitOfTree()
	if err != nil {
		return err
	}
	failed := 0
	for _, version := range versions {
		release, err := cassandra.VersionOf(version)
		if err != nil {
			return err
		}
		r := &runner{release: release, commit: commit}
		all := jobsOf(release, pattern)
		if err := r.shared(all, speak); err != nil {
			return err
		}
		for _, j := range all {
			for _, protocol := range speak {
				if j.parts[0].nodes != sharedNode && j.parts[0].speaks(r.release, protocol) {
					r.run(j, protocol)
				}
			}
		}
		failed += r.failed
	}
	if failed > 0 {
		return fmt.Errorf("%d tests failed", failed)
	}
	return nil
}

// commitOfTree returns the commit of the working tree, with a plus sign if files other than the results have changed.
func commitOfTree() (string, error) {
	head, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--", ".", ":!"+resultsFile, ":!"+document).Output()
	if err != nil {
		return "", fmt.Errorf("git status: %w", err)
	}
	commit := strings.TrimSpace(string(head))
	if len(changes) > 0 {
		commit += "+"
	}
	return commit, nil
}

// A runner runs jobs on a version.
type runner struct {
	release, commit string

	failed int
}

// shared runs the jobs that use the shared node, with one version of the protocol after the other: at the same time
// they take longer.
func (r *runner) shared(all []job, speak []string) error {
	var use []job
	for _, j := range all {
		if j.parts[0].nodes == sharedNode {
			use = append(use, j)
		}
	}
	if len(use) == 0 {
		return nil
	}
	node, err := cassandra.Hold(context.Background(), r.release)
	if err != nil {
		return err
	}
	defer func() { _ = node.Close() }() // releases the node
	for _, protocol := range speak {
		for _, j := range use {
			if j.parts[0].speaks(r.release, protocol) {
				r.run(j, protocol)
			}
		}
	}
	return nil
}

// run runs a job with a version of the protocol and stores its results. A job that runs no test counts as one failure.
func (r *runner) run(j job, protocol string) {
	log.Printf("Cassandra %s, protocol v%s: %s", r.release, protocol, j.name())
	found, err := r.results(j, protocol)
	if err == nil {
		err = r.store(found)
	}
	if err != nil {
		log.Printf("Cassandra %s, protocol v%s: %s: %v", r.release, protocol, j.name(), err)
		r.failed++
	}
}

// store merges results into the file and the document.
func (r *runner) store(found []result) error {
	for _, got := range found {
		log.Printf("Cassandra %s, protocol v%d: %s: %d passed, %d missing, %d failed in %d s", got.Version, got.Protocol,
			got.Part, got.Passed, got.missing(), len(got.Failed), got.Seconds)
		for _, name := range got.Failed {
			log.Printf("\t%s", name)
		}
		r.failed += len(got.Failed)
	}
	all, err := readResults() // again, because another process may have written some
	if err != nil {
		return err
	}
	all = merge(all, found)
	return errors.Join(writeResults(all), writeDocument(all))
}

// results runs the commands of a job and counts its tests.
func (r *runner) results(j job, protocol string) ([]result, error) {
	number, err := strconv.Atoi(protocol)
	if err != nil {
		return nil, err
	}
	name := strings.ReplaceAll(fmt.Sprintf("servers-%s-v%s-%s.log", r.release, protocol, j.name()), " ", "_")
	if err := os.MkdirAll(".cache", 0o755); err != nil {
		return nil, err
	}
	logFile, err := os.Create(filepath.Join(".cache", name))
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	found := make([]result, len(j.parts))
	for i, p := range j.parts {
		found[i] = result{
			Version: r.release, Part: p.name, Protocol: number, Missing: map[string]int{},
			Date: time.Now().UTC().Format(time.DateOnly), Commit: r.commit,
		}
	}
	for _, argv := range j.commands() {
		all, err := r.command(argv, j.environment(r.release, protocol), logFile)
		if err != nil {
			return nil, err
		}
		if !all.ran() {
			return nil, fmt.Errorf("%q ran no test: see %s", argv, logFile.Name())
		}
		all.count(j.parts, found)
	}
	return found, nil
}

// command runs go test and returns the ends of its tests.
func (r *runner) command(argv, environment []string, logFile *os.File) (outcomes, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	all, err := readEvents(out, logFile)
	if ended := cmd.Wait(); err == nil && !all.failed() {
		err = ended // go test was killed: else its events have the failure
	}
	return all, err
}
