// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// TestIntervals compares sets with maps.
func TestIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var set intervals
		reference := map[int64]bool{}
		for range 40 {
			i := int64(r.IntN(60))
			j := i + int64(r.IntN(4))
			set.add(i, j)
			for ; i < j; i++ {
				reference[i] = true
			}
			require.True(t, set.valid(), set)
			for n := range int64(70) {
				require.Equal(t, reference[n], set.has(n), "%d in %v", n, set)
			}
		}
	}
	require.False(t, intervals{{3, 3}}.valid())
	require.False(t, intervals{{0, 3}, {3, 4}}.valid())
	require.False(t, intervals{{-1, 3}}.valid())
}

// TestIntervalsWithout compares differences of sets with maps.
func TestIntervalsWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var a, b intervals
		for range r.IntN(6) {
			i, j := r.Int64N(40), r.Int64N(40)
			a.add(i, i+r.Int64N(12))
			b.add(j, j+r.Int64N(9))
		}
		rest := a.without(b)
		require.True(t, rest.valid(), rest)
		for n := range int64(60) {
			require.Equal(t, a.has(n) && !b.has(n), rest.has(n), "%d in %v without %v", n, a, b)
		}
	}
}

// TestResume writes half of the rows, fails some, and resumes with a new writer.
func TestResume(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		path := filepath.Join(t.TempDir(), "checkpoint.json")
		open := func(change func(o *Options)) *Writer {
			o := Options{Checkpoint: path, BatchPartitions: 1}
			change(&o)
			w, err := Insert(t.Context(), s.Session, "shop.items", o)
			require.NoError(t, err)
			return w
		}
		w := open(func(*Options) {})
		require.NoError(t, writeItems(t.Context(), w, 0, 250))
		require.NoError(t, writeItems(t.Context(), w, 400, 500))
		require.NoError(t, w.Flush(t.Context()))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.JSONEq(t, `{"job": "INSERT INTO \"shop\".\"items\"", "sources": {"items": {"done": [[0, 250], [400, 500]]}}}`, string(text))
		require.NoError(t, w.Close(t.Context()))

		executed := s.cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "INSERT"})
		w = open(func(*Options) {})
		require.NoError(t, writeItems(t.Context(), w, 0, 1000))
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, 350, w.Stats().Skipped)
		require.EqualValues(t, 650, w.Stats().Rows)
		require.Equal(t, 650, executed.Hits())
		require.EqualValues(t, 1000, w.Checkpoint().Sources["items"].Watermark())
		s.requireItems(t, 1000)

		// The file is stored at intervals.
		w = open(func(o *Options) { o.CheckpointEvery = time.Second })
		require.NoError(t, w.Write(t.Context(), items(1000, 10)))
		time.Sleep(1500 * time.Millisecond)
		text, err = os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(text), "[0,1010]")
		require.NoError(t, w.Close(t.Context()))

		// Parts of sources, another job, and damaged files.
		done := w.Checkpoint().Sources["items"]
		require.Equal(t, []bool{true, true, false, true}, []bool{done.Has(0, 1010), done.Has(7, 8), done.Has(1009, 1011), done.Has(5000, 5000)})
		_, err = Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: path, Job: "other files"})
		require.ErrorIs(t, err, ErrCheckpoint)
		var other *JobError
		require.ErrorAs(t, err, &other)
		const insert = `INSERT INTO "shop"."items"`
		require.Equal(t, JobError{Checkpoint: path, Got: insert, Want: insert + " other files"}, *other)
		_, err = New(t.Context(), s.Session, "DELETE FROM shop.items WHERE id = ?", Options{Checkpoint: path})
		require.ErrorIs(t, err, ErrCheckpoint)
		for _, bad := range []string{"", "{", `{"job": "INSERT INTO \"shop\".\"items\"", "sources": {"items": {"done": [[2, 1]]}}}`} {
			require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
			_, err = Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: path})
			require.ErrorIs(t, err, ErrCheckpoint)
		}
		_, err = Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: filepath.Join(t.TempDir(), "no", "such", "folder")})
		require.ErrorIs(t, err, ErrCheckpoint)
		for _, endless := range []string{"/dev/zero", t.TempDir()} {
			_, err = Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: endless})
			require.ErrorContains(t, err, endless+" is not a regular file")
		}
	})
}

// TestCheckpointFails stops the writer when the checkpoint cannot be written.
func TestCheckpointFails(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(dir, 0o700))
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: filepath.Join(dir, "checkpoint.json")})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 10)))
		require.NoError(t, os.RemoveAll(dir))
		time.Sleep(6 * time.Second)
		require.ErrorIs(t, w.Write(t.Context(), items(10, 10)), ErrCheckpoint)
		require.ErrorIs(t, w.Close(t.Context()), ErrCheckpoint)
	})
}

// TestFlushFailsWithTheCheckpoint, and stops the writer for good.
func TestFlushFailsWithTheCheckpoint(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(dir, 0o700))
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: filepath.Join(dir, "checkpoint.json"), CheckpointEvery: time.Hour})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 10)))
		require.NoError(t, os.RemoveAll(dir))
		err = w.Flush(t.Context())
		require.ErrorIs(t, err, ErrCheckpoint)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.Equal(t, err, w.Write(t.Context(), items(10, 10)))
		require.Equal(t, err, w.Close(t.Context()))
	})
}

// TestCheckpointIsStoredRegularly, not only once.
func TestCheckpointIsStoredRegularly(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		path := filepath.Join(t.TempDir(), "checkpoint.json")
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: path, CheckpointEvery: time.Minute})
		require.NoError(t, err)
		for n := range 3 {
			require.NoError(t, w.Write(t.Context(), items(10*n, 10)))
			time.Sleep(61 * time.Second)
			require.Len(t, doneOf(t, path), 10*(n+1))
		}
		require.NoError(t, w.Close(t.Context()))
	})
}

const increment = "UPDATE shop.hits SET n = n + 1 WHERE id = :id"

// TestRowsThatCannotBeAnnouncedAreNotSent: the checkpoint of a statement that is not idempotent cannot be written.
func TestRowsThatCannotBeAnnouncedAreNotSent(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		dir := filepath.Join(t.TempDir(), "dir")
		require.NoError(t, os.Mkdir(dir, 0o700))
		executed := s.cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "UPDATE"})
		w, err := New(t.Context(), s.Session, increment, Options{Counters: true, Checkpoint: filepath.Join(dir, "hits.json"), CheckpointEvery: time.Hour})
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(dir))
		err = w.Write(t.Context(), items(0, 10))
		require.ErrorIs(t, err, ErrCheckpoint)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.Equal(t, err, w.Write(t.Context(), items(10, 10)), "the writer has stopped")
		require.Equal(t, err, w.Close(t.Context()))
		require.Zero(t, executed.Hits())
	})
}

// TestAnnouncementLeavesTheRowsBefore: small batches are announced while rows of earlier ones are in queues.
func TestAnnouncementLeavesTheRowsBefore(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "UPDATE", Delay: 10 * time.Millisecond})
		w, err := New(t.Context(), s.Session, increment, Options{Counters: true, Checkpoint: filepath.Join(t.TempDir(), "hits.json"), MaxInFlight: 8})
		require.NoError(t, err)
		for first := 0; first < 200; first += 5 {
			require.NoError(t, w.Write(t.Context(), items(first, 5)))
		}
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, 200, w.Stats().Rows)
		var n int
		require.NoError(t, s.Query("SELECT COUNT(*) FROM shop.hits WHERE n = 1 ALLOW FILTERING").Scan(t.Context(), &n))
		require.Equal(t, 200, n)
	})
}

// TestRowIsNotSentBeforeItIsAnnounced: the context of Write ends while it waits for rows that were announced before.
func TestRowIsNotSentBeforeItIsAnnounced(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		end := make(chan struct{})
		s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "UPDATE", Until: end})
		w, err := New(t.Context(), s.Session, increment, Options{Counters: true, Checkpoint: filepath.Join(t.TempDir(), "hits.json")})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, announcedRows/2)))
		require.NoError(t, w.Write(t.Context(), items(announcedRows/2, announcedRows/2)), "without a wait for the rows before")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Write(ctx, items(announcedRows, 1)), context.DeadlineExceeded)
		require.Equal(t, announcedRows, w.Stats().Pending)
		require.Equal(t, [][2]int64{{0, announcedRows}}, w.Checkpoint().Sources["items"].Started)
		close(end)
		require.NoError(t, w.Close(t.Context()))
		require.EqualValues(t, announcedRows, w.Stats().Rows)
	}, func(cfg *vecql.ClusterConfig) { cfg.Timeout = time.Hour })
}

// TestLedgerFails stores in the next attempt what an attempt could not write.
func TestLedgerFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "checkpoint.json")
	l, err := openLedger(path, "job")
	require.NoError(t, err)
	sets := l.source("rows")
	l.done(sets, 3, 4)
	require.NoError(t, os.RemoveAll(dir))
	require.ErrorIs(t, l.save(), ErrCheckpoint)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, l.save())
	require.Equal(t, map[int64]bool{3: true, 4: true, 5: true, 6: true}, doneOf(t, path))
}

const (
	childJob  = "BULK_TEST_JOB" // environment of the child process
	childRows = 1200
	appendOne = "UPDATE shop.logs SET l = l + :l WHERE id = :id"
)

// TestChild is the process that TestKill kills.
func TestChild(t *testing.T) {
	job := os.Getenv(childJob)
	if job == "" {
		t.Skip("started by TestKill")
	}
	args := strings.Split(os.Getenv("BULK_TEST_ARGS"), " ")
	cfg := &vecql.ClusterConfig{Hosts: args[1:]}
	cfg.Logger, cfg.Defaults.Consistency = slog.New(slog.DiscardHandler), cql.One
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	defer session.Close()
	o := Options{Checkpoint: args[0], CheckpointEvery: 5 * time.Millisecond, MaxInFlight: 32, BatchPartitions: 1, MaxRejected: childRows}
	o.Rejected = func(r Rejection) error {
		fmt.Println("rejected", r.Index)
		return nil
	}
	var w *Writer
	if job == "append" {
		w, err = New(t.Context(), session, appendOne, o)
	} else {
		w, err = Insert(t.Context(), session, "shop.items", o)
	}
	require.NoError(t, err)
	for first := 0; first < childRows; first += 100 {
		b := items(first, 100)
		if job == "append" {
			offsets := make([]int32, 101)
			for i := range offsets {
				offsets[i] = int32(i)
			}
			b = column.NewBatch(b.Columns[0], column.Lists("l", offsets, b.Columns[0]))
		}
		require.NoError(t, w.Write(context.Background(), b))
	}
	require.NoError(t, w.Close(context.Background()))
}

// A watch counts the executions of rows by id.
type watch struct {
	mu    sync.Mutex
	count map[string]int
	total int
	kills chan struct{} // receives a value after each killEvery executions
}

const killEvery = 400

func (w *watch) see(r cqltest.Request) {
	id, ok := r.Value("id")
	if r.Op != cqltest.OpExecute || !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count[id.Text()]++
	if w.total++; w.total%killEvery == 0 {
		select {
		case w.kills <- struct{}{}:
		default:
		}
	}
}

// TestKill kills a process with SIGKILL until one run ends by itself. No run sends a row that the checkpoint listed
// before, no row is missing, and no row that is not idempotent is sent twice.
func TestKill(t *testing.T) {
	for _, job := range []string{"insert", "append"} {
		t.Run(job, func(t *testing.T) {
			seen := &watch{count: map[string]int{}, kills: make(chan struct{}, 1)}
			c := cqltest.New(t, cqltest.Config{Nodes: 1, OnRequest: seen.see})
			require.NoError(t, c.Exec(fmt.Sprintf(shopSchema, 1)))
			c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: time.Millisecond})
			path := filepath.Join(t.TempDir(), "checkpoint.json")
			rejected := map[string]bool{}
			kills := 0
			for killed := true; killed; {
				before := doneOf(t, path)
				counted := map[int64]int{}
				seen.mu.Lock()
				for id := range before {
					counted[id] = seen.count[strconv.FormatInt(id, 10)]
				}
				seen.mu.Unlock()
				killed = runChild(t, job, path, c.Hosts(), seen.kills, rejected)
				if killed {
					kills++
				}
				seen.mu.Lock()
				for id, n := range counted {
					require.Equal(t, n, seen.count[strconv.FormatInt(id, 10)], "row %d was done and is sent again", id)
				}
				seen.mu.Unlock()
			}
			require.GreaterOrEqual(t, kills, 2)
			require.Len(t, doneOf(t, path), childRows)
			for id := range childRows {
				n := seen.count[strconv.Itoa(id)]
				if job == "append" {
					require.LessOrEqual(t, n, 1)
					require.True(t, n == 1 || rejected[strconv.Itoa(id)], "row %d is neither sent nor rejected", id)
				} else {
					require.Positive(t, n)
				}
			}
			t.Logf("%d kills, %d executions, %d rows in doubt", kills, seen.total, len(rejected))
		})
	}
}

// runChild runs the child process and reports whether it was killed.
func runChild(t *testing.T, job, path string, hosts []string, kills <-chan struct{}, rejected map[string]bool) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), childJob+"="+job, "BULK_TEST_ARGS="+strings.Join(append([]string{path}, hosts...), " "))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		select {
		case <-kills:
			_ = cmd.Process.Kill()
		case <-ended:
		}
	}()
	var text strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "rejected "); ok {
			rejected[id] = true
		}
		text.WriteString(lines.Text() + "\n")
	}
	err = cmd.Wait()
	close(ended)
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatal(err, text.String())
	}
	return err != nil
}

// doneOf returns the rows that a checkpoint lists as done.
func doneOf(t *testing.T, path string) map[int64]bool {
	t.Helper()
	done := map[int64]bool{}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return done
	}
	var c Checkpoint
	require.NoError(t, json.Unmarshal(text, &c))
	for _, p := range c.Sources {
		for _, v := range p.Done {
			for id := v[0]; id < v[1]; id++ {
				done[id] = true
			}
		}
	}
	return done
}

// TestFewRowsAreInDoubt ends a writer, as a crash does, while rows of a statement that is not idempotent are sent: all
// that its checkpoint announces beyond the rows that are done is bounded, for large and for small batches.
func TestFewRowsAreInDoubt(t *testing.T) {
	for _, size := range []int{1, 50, 600} {
		const rows = 600
		s := newShop(t, 1)
		path := filepath.Join(t.TempDir(), "checkpoint.json")
		w, err := New(t.Context(), s.Session, "UPDATE shop.logs SET l = l + [1] WHERE id = :id", Options{Checkpoint: path, MaxInFlight: 8, RetryFor: time.Minute})
		require.NoError(t, err)
		held := s.cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "UPDATE", Skip: 300, Until: make(chan struct{})})
		ctx, cancel := context.WithCancel(t.Context())
		written := make(chan error, 1)
		go func() {
			var err error
			for first := 0; first < rows && err == nil; first += size {
				err = w.Write(ctx, items(first, size))
			}
			written <- err
		}()
		require.NoError(t, held.Wait(t.Context(), 1))
		time.Sleep(50 * time.Millisecond) // a writer without the bound announces all rows meanwhile
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var c Checkpoint
		require.NoError(t, json.Unmarshal(text, &c))
		require.Len(t, c.Sources, 1)
		p := slices.Collect(maps.Values(c.Sources))[0]
		inDoubt := toIntervals(p.Started).without(toIntervals(p.Done))
		require.LessOrEqual(t, inDoubt.count(0, rows), int64(announcedRows), size)
		require.GreaterOrEqual(t, toIntervals(p.Started).count(0, rows), int64(300), size)
		cancel()
		require.Error(t, <-written)
		ended, cancelClose := context.WithCancel(context.Background())
		cancelClose()
		_ = w.Close(ended) // the requests have no answers
	}
}

// TestSkippedRejectedRows counts rows that an earlier run has rejected apart from those that it has written.
func TestSkippedRejectedRows(t *testing.T) {
	s := newShop(t, 1)
	path := filepath.Join(t.TempDir(), "checkpoint.json")
	b := column.NewBatch(column.Of("id", []int64{1, 2, 3, 4}).WithNulls([]bool{false, true, true, false}), column.Strings("name", []string{"a", "b", "c", "d"}))
	for run := range 2 {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{Checkpoint: path, AllowMissing: true, MaxRejected: 9})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), b))
		require.NoError(t, w.Close(t.Context()))
		got := w.Stats()
		require.Equal(t, [4]uint64{uint64(2 - 2*run), uint64(2 - 2*run), uint64(4 * run), uint64(2 * run)},
			[4]uint64{got.Rows, got.Rejected, got.Skipped, got.SkippedRejected})
	}
}
