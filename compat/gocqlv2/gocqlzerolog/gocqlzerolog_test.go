// SPDX-License-Identifier: Apache-2.0

package gocqlzerolog_test

import (
	"bytes"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/gocqlzerolog"
)

func TestLogger(t *testing.T) {
	var out bytes.Buffer
	base := zerolog.New(&out)
	l := gocqlzerolog.NewZerologLogger(base)
	l.Error("a", gocql.NewLogFieldInt("n", 5), gocql.NewLogFieldBool("b", true), gocql.NewLogFieldString("s", "x"))
	l.Warning("b")
	l.Info("c")
	gocqlzerolog.NewUnnamedZerologLogger(base).Debug("d")
	require.Equal(t, `{"level":"error","logger":"gocql","n":5,"b":true,"s":"x","message":"a"}
{"level":"warn","logger":"gocql","message":"b"}
{"level":"info","logger":"gocql","message":"c"}
{"level":"debug","message":"d"}
`, out.String())
	require.NotZero(t, l.ZerologLogger())
}
