// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configtls"

	casconfig "github.com/jaegertracing/jaeger/internal/storage/cassandra/config"
	cassandrav1 "github.com/jaegertracing/jaeger/internal/storage/v1/cassandra"
	"github.com/jaegertracing/jaeger/internal/storage/v2/cassandra"
	"github.com/jaegertracing/jaeger/internal/telemetry"
)

// TestSchema creates the schema that TestCassandraStorage uses. It runs in a process of its own, because it leaves a
// session open, which the test's search for goroutines finds.
func TestSchema(t *testing.T) {
	config := casconfig.DefaultConfiguration()
	config.Schema.Keyspace = "jaeger_v1_dc1"
	config.Schema.CreateSchema = true
	config.Schema.Datacenter = "datacenter1"
	config.Connection.Servers = []string{"127.0.0.1"}
	config.Connection.TLS = configtls.ClientConfig{Insecure: true}
	factory, err := cassandra.NewFactory(cassandrav1.Options{Configuration: config}, telemetry.NoopSettings())
	require.NoError(t, err)
	require.NoError(t, factory.Close())
}
