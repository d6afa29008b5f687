// SPDX-License-Identifier: Apache-2.0

package leak

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOfDriver(t *testing.T) {
	for name, row := range map[string]struct {
		stack string
		want  bool
	}{
		"a method": {"goroutine 7 [select]:\n" + Module + ".(*anything).loop(0x1)\n\t/src/pool.go:7 +0x1", true},
		"a function of the driver that waits in another package": {
			"goroutine 7 [IO wait]:\nnet.(*conn).Read(0x1)\n\t/go/net.go:1\n" + Module + "/internal/conn.(*Conn).read()\n\t/src/read.go:1", true,
		},
		"created by the driver": {
			"goroutine 7 [sleep]:\ntime.Sleep(0x1)\n\t/go/time.go:1\ncreated by " + Module + ".open in goroutine 1\n\t/src/session.go:1", true,
		},
		"an internal package": {"goroutine 7 [select]:\n" + Module + "/internal/background.(*Group).run()\n\t/src/internal/background/group.go:1", true},
		"the driver on the scripted cluster": {
			"goroutine 7 [sync.Cond.Wait]:\n" + Module + "/internal/memconn.(*Conn).Read()\n\t/src/memconn.go:1\n" + Module + "/internal/conn.(*Conn).read()\n\t/src/read.go:1", true,
		},
		"the scripted cluster": {
			"goroutine 7 [sync.Cond.Wait]:\n" + Module + "/internal/wire.Read()\n\t/src/wire.go:1\n" + Module + "/internal/fakecql.(*Server).serve()\n\t/src/server.go:1",
			false,
		},
		"a server of Cassandra": {"goroutine 7 [syscall]:\n" + Module + "/internal/cassandra.start.func1()\n\t/src/process.go:1", false},
		"a test": {
			"goroutine 7 [sleep]:\n" + Module + ".TestX.func1()\n\t/src/x_test.go:1\ncreated by " + Module + ".TestX in goroutine 1\n\t/src/x_test.go:2", false,
		},
		"another package": {"goroutine 7 [sleep]:\n" + Module + "/groupby.(*Grouper).run()\n\t/src/groupby/group.go:1", false},
		"another module":  {"goroutine 7 [sleep]:\n" + Module + "2.run()\n\t/src/x.go:1", false},
	} {
		require.Equal(t, row.want, ofDriver(row.stack), name)
	}
}
