// SPDX-License-Identifier: Apache-2.0

package gocqlzap_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/gocqlzap"
)

func TestLogger(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	base := zap.New(core)
	l := gocqlzap.NewZapLogger(base)
	l.Error("a", gocql.NewLogFieldInt("n", 5), gocql.NewLogFieldBool("b", true), gocql.NewLogFieldString("s", "x"))
	l.Warning("b")
	l.Info("c")
	l.Debug("d")
	all := logs.AllUntimed()
	require.Equal(t, map[string]any{"n": int64(5), "b": true, "s": "x"}, all[0].ContextMap())
	require.Equal(t, gocqlzap.DefaultName, all[0].LoggerName)
	for i, level := range []zapcore.Level{zap.ErrorLevel, zap.WarnLevel, zap.InfoLevel, zap.DebugLevel} {
		require.Equal(t, level, all[i].Level)
	}
	require.Same(t, base, gocqlzap.NewUnnamedZapLogger(base).ZapLogger())
}
