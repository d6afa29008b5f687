// SPDX-License-Identifier: Apache-2.0

package toolsoak

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/tablescan"
)

// Kills at random moments.

// poll is the time between two looks at a checkpoint.
const poll = 20 * time.Millisecond

// A job is a load or an unload that is killed.
type job struct {
	args     []string
	progress func() int64 // rows that the checkpoint lists
	killed   func(n int)  // called after the nth kill, from 1
}

// killed is what killUntilDone has seen.
type killed struct {
	summary
	kills     int
	recovered []time.Duration // from each start with --resume to the first further row in the checkpoint
}

// killUntilDone runs a job and kills the process -kills times, each time when the checkpoint has a random number of
// rows and a random part of a second later. The next process continues with --resume. A process that ends by itself
// must succeed, and ends the job: the test fails if that is before the last kill.
func (x *tool) killUntilDone(j job) (k killed) {
	x.t.Helper()
	targets := make([]int64, *kills)
	for i := range targets {
		targets[i] = rand.Int64N(int64(*size) * 8 / 10)
	}
	slices.Sort(targets)
	for args := j.args; ; {
		before, began := j.progress(), time.Now()
		p := x.start(args...)
		if k.kills > 0 && x.awaitProgress(p, j.progress, before+1) {
			k.recovered = append(k.recovered, time.Since(began).Round(time.Millisecond))
		}
		if k.kills == len(targets) || !x.awaitProgress(p, j.progress, targets[k.kills]) {
			<-p.endDone
		} else {
			select {
			case <-p.endDone:
			case <-time.After(rand.N(time.Second)):
				p.kill()
			}
		}
		if !p.killed {
			k.summary = x.summaryOf(p)
			require.Len(x.t, targets, k.kills, "the job ended before the last kill: more -rows or fewer -kills")
			return k
		}
		if k.kills++; k.kills == 1 {
			args = append(slices.Clone(args), "--resume")
		}
		j.killed(k.kills)
	}
}

// awaitProgress blocks until the checkpoint lists so many rows. It reports false if the process has ended before.
func (x *tool) awaitProgress(p *process, progress func() int64, rows int64) bool {
	for progress() < rows {
		select {
		case <-p.endDone:
			return false
		case <-time.After(poll):
		}
	}
	return true
}

// readCheckpoint reads a checkpoint, which must be complete if it exists.
func (x *tool) readCheckpoint(path string, to any) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	require.NoError(x.t, err)
	require.NoError(x.t, json.Unmarshal(text, to), "%s", text)
}

// loaded returns a function that counts the rows of the checkpoint of load.
func (x *tool) loaded(path string) func() int64 {
	return func() (rows int64) {
		var c bulk.Checkpoint
		x.readCheckpoint(path, &c)
		for _, p := range c.Sources {
			for _, done := range p.Done {
				rows += done[1] - done[0]
			}
		}
		return rows
	}
}

// unloaded returns a function that counts the rows of the checkpoint of unload.
func (x *tool) unloaded(path string) func() int64 {
	return func() int64 {
		var c struct {
			Scan tablescan.Checkpoint `json:"scan"`
		}
		x.readCheckpoint(path, &c)
		return c.Scan.Rows
	}
}
