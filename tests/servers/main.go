// SPDX-License-Identifier: Apache-2.0

// Command servers runs the tests that use servers on real nodes of each version of Cassandra, and writes the table of
// docs/versions.md from the results:
//
//	go run ./tests/servers                              # everything, hours
//	go run ./tests/servers -versions 6.0 -parts 'suite' # a part; the table keeps the results of the others
//
// The results lie in .cache/servers.json, so that parts of the run can follow one another.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/vecql/vecql/internal/cassandra"
)

// part is a run of go test.
type part struct {
	name  string
	nodes int
	argv  []string
}

// parts are the tests that use servers. Their patterns leave out the tests of package cqltest.
var parts = []part{
	{"suite", 1, goTest("./tests", "TestSuite/nodes=(one|secure)/|TestNegotiation|TestListeners|TestTokens|TestTokensOfSortedKeys|"+
		"TestBulk|TestTableScan|TestTextForms|TestPrintedForms")},
	{"search", 1, goTest("./tests", "TestSearch/server|TestSearchFilters/Cassandra|TestSearchIndex(Builds|Empty|Rebuild|Refusals)|"+
		"TestDocumentsOnServer|TestSemanticCacheOnServer|TestParquetLoad|TestUnindexedQuery")},
	{"three", 3, goTest("./tests", "TestSuite/nodes=three/|TestTokenAware|TestSearchIndexThreeNodes")},
	{"kill", 3, goTest("./tests", "TestKilledNode|TestRollingRestart|TestFault37OtherCassandra")},
	{"tool", 1, goTest("./cmd/vecql/internal/tool", "^TestOnServer$")},
	{"values", 1, goTest("./internal/valuetest", "^TestOnServer$")},
	{"sql", 1, append(goTest("./sqlvecql", "^TestServer$|^TestSqlx$|^TestGoose|^TestStore$"), "./tests/sql")},
	{"adbc", 1, goTest("./adbcvecql", "^TestOnServer$")},
	{"compat", 1, compatTest("")},
	{"compat v2", 1, compatTest("v2")},
}

func goTest(pkg, run string) []string {
	return []string{"go", "test", "-json", "-count=1", "-timeout=40m", "-run", run, pkg}
}

func compatTest(tags string) []string {
	return []string{
		"env", "GOWORK=off", "go", "-C", "compat/tests", "test", "-modfile=api.mod", "-tags=" + tags, "-json", "-count=1",
		"-run", "^TestMetadataOfAKeyspace$", "./behavior",
	}
}

const resultsFile, document = ".cache/servers.json", "docs/versions.md"

func main() {
	log.SetFlags(log.Ltime)
	versions := flag.String("versions", strings.Join(cassandra.Lines(), ","), "versions of Cassandra, with commas between them")
	only := flag.String("parts", "", "a `regexp` of the parts to run")
	flag.Parse()
	if err := run(strings.Split(*versions, ","), *only); err != nil {
		log.Fatal(err)
	}
}

// run runs the parts on each version, and writes the results and the document.
func run(versions []string, only string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := readResults()
	if err != nil {
		return err
	}
	failed := 0
	for _, version := range versions {
		release, err := cassandra.VersionOf(version)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if !pattern.MatchString(p.name) {
				continue
			}
			found, err := p.run(release)
			if err != nil {
				return err
			}
			for _, r := range found {
				log.Printf("%s, protocol v%d: %d passed, %d missing, %d failed", r.Part, r.Protocol, r.Passed, r.missing(), len(r.Failed))
				failed += len(r.Failed)
			}
			if all, err = readResults(); err != nil { // another process may have written some
				return err
			}
			all = merge(all, release, p.name, found)
			if err := writeResults(all); err != nil {
				return err
			}
		}
	}
	if err := writeDocument(all); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d tests failed", failed)
	}
	return nil
}

// run runs the part on a version.
func (p part) run(release string) ([]result, error) {
	log.Printf("Cassandra %s: %s", release, p.name)
	logFile, err := os.Create(filepath.Join(".cache", fmt.Sprintf("servers-%s-%s.log", release, p.name)))
	if err != nil {
		return nil, err
	}
	defer logFile.Close()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env = append(os.Environ(), "VECQL_SOAK=1", cassandra.VersionVariable+"="+release, "VECQL_TEST_HOSTS=")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	events, err := readEvents(out, logFile)
	ended := cmd.Wait()
	if err != nil {
		return nil, err
	}
	found := events.results(release, p, time.Now().UTC().Format(time.DateOnly))
	if len(found) == 0 {
		return nil, errors.Join(fmt.Errorf("%s ran no test: see %s", p.name, logFile.Name()), ended)
	}
	return found, nil
}

func readResults() ([]result, error) {
	if err := os.MkdirAll(filepath.Dir(resultsFile), 0o755); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(resultsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []result
	return all, json.Unmarshal(b, &all)
}

func writeResults(all []result) error {
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(resultsFile, append(b, '\n'), 0o644)
}

// writeDocument replaces the table between the marks of the document.
func writeDocument(all []result) error {
	b, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(b), firstMark)
	_, after, closed := strings.Cut(rest, lastMark)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q", document, firstMark, lastMark)
	}
	return os.WriteFile(document, []byte(before+firstMark+table(all)+lastMark+after), 0o644)
}
