// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoTextHasAPassword(t *testing.T) {
	cfg := Config{Nodes: 1, Users: map[string]string{"alice": "correct horse"}}
	c := New(t, cfg)
	for name, v := range map[string]any{
		"config": cfg, "its pointer": &cfg, "in a struct": struct{ Config Config }{cfg}, "cluster": c, "node": c.Node(0),
	} {
		texts := []string{fmt.Sprint(v)}
		for _, verb := range []string{"v", "+v", "#v", "s", "q", "d", "t", "z"} {
			texts = append(texts, fmt.Sprintf("%"+verb, v))
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("config", "config", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("config", "config", v)
		texts = append(texts, log.String())
		if b, err := json.Marshal(v); err == nil {
			texts = append(texts, string(b))
		}
		for _, text := range texts {
			require.NotContains(t, text, "correct horse", name)
		}
	}
	require.Contains(t, cfg.String(), "Users:map[alice:***]")
	require.Equal(t, "correct horse", cfg.Users["alice"], "the configuration itself is not changed")
}
