// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of the negotiation of ScyllaDB's extensions.

func TestParseFeatures(t *testing.T) {
	id, err := cql.ParseUUID("11111111-2222-3333-4444-555555555555")
	require.NoError(t, err)
	all := Features{
		Shards: 8, Shard: 3, IgnoreMSB: 12, ShardAwarePort: 19042, ShardAwarePortSSL: 19142, HostID: id, lwtMask: 1 << 31,
		RateLimitCode: 17185, tabletsV1: true, MetadataID: true,
	}
	noShards := func(f *Features) {
		f.Shards, f.Shard, f.IgnoreMSB, f.ShardAwarePort, f.ShardAwarePortSSL = 0, 0, 0, 0, 0
	}
	for _, m := range []struct {
		name    string
		changes []string
		want    func(f *Features)
	}{
		{"everything", nil, nil},
		{"no shard", []string{keyShard, "-"}, noShards},
		{"no shards", []string{keyShards, "-"}, noShards},
		{"zero shards", []string{keyShards, "0"}, noShards},
		{"negative shards", []string{keyShards, "-8"}, noShards},
		{"shards above the limit", []string{keyShards, "2147483647"}, noShards},
		{"shards that overflow", []string{keyShards, "99999999999999999999"}, noShards},
		{"empty shard", []string{keyShard, ""}, noShards},
		{"shard beyond the last", []string{keyShard, "8"}, noShards},
		{"negative shard", []string{keyShard, "-1"}, noShards},
		{"64 bits ignored", []string{keyIgnoreMSB, "64"}, noShards},
		{"no bits", []string{keyIgnoreMSB, "-"}, noShards},
		{"another algorithm", []string{keyShardingAlgorithm, "by weight"}, noShards},
		{"another partitioner", []string{keyPartitioner, "org.apache.cassandra.dht.RandomPartitioner"}, noShards},
		{"no bits ignored", []string{keyIgnoreMSB, "0"}, func(f *Features) { f.IgnoreMSB = 0 }},
		{"63 bits ignored", []string{keyIgnoreMSB, "63"}, func(f *Features) { f.IgnoreMSB = 63 }},
		{"the first shard", []string{keyShard, "0"}, func(f *Features) { f.Shard = 0 }},
		{"the last shard", []string{keyShard, "7"}, func(f *Features) { f.Shard = 7 }},
		{"one shard", []string{keyShards, "1", keyShard, "0"}, func(f *Features) { f.Shards, f.Shard = 1, 0 }},
		{"the most shards", []string{keyShards, "1024"}, func(f *Features) { f.Shards = 1024 }},
		{"a shard more", []string{keyShards, "1025"}, noShards},
		{"ports 1 and 65535", []string{KeyShardAwarePort, "1", keyShardAwarePortSSL, "65535"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 1, 65535 }},
		{"ports 65535 and 1", []string{KeyShardAwarePort, "65535", keyShardAwarePortSSL, "1"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 65535, 1 }},
		{"ports 65536 and 0", []string{KeyShardAwarePort, "65536", keyShardAwarePortSSL, "0"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 0, 0 }},
		{"no port but with TLS", []string{KeyShardAwarePort, "0", keyShardAwarePortSSL, "65536"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 0, 0 }},
		{"port 0", []string{KeyShardAwarePort, "0"}, func(f *Features) { f.ShardAwarePort = 0 }},
		{"ports 70000 and -1", []string{KeyShardAwarePort, "70000", keyShardAwarePortSSL, "-1"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 0, 0 }},
		{"ports -1 and 70000", []string{KeyShardAwarePort, "-1", keyShardAwarePortSSL, "70000"}, func(f *Features) { f.ShardAwarePort, f.ShardAwarePortSSL = 0, 0 }},
		{"port 65536", []string{KeyShardAwarePort, "65536"}, func(f *Features) { f.ShardAwarePort = 0 }},
		{"no port with TLS", []string{keyShardAwarePortSSL, "-"}, func(f *Features) { f.ShardAwarePortSSL = 0 }},
		{"host id of letters", []string{KeyHostID, "node one"}, func(f *Features) { f.HostID = cql.UUID{} }},
		{"no mask", []string{KeyLWTMark, "-"}, func(f *Features) { f.lwtMask = 0 }},
		{"mask 0", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=0"}, func(f *Features) { f.lwtMask = 0 }},
		{"mask without a name", []string{KeyLWTMark, "2147483648"}, func(f *Features) { f.lwtMask = 0 }},
		{"mask of 33 bits", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=4294967296"}, func(f *Features) { f.lwtMask = 0 }},
		{"mask of a standard flag", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=1"}, func(f *Features) { f.lwtMask = 0 }},
		{"the lowest mask", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=16"}, func(f *Features) { f.lwtMask = 16 }},
		{"mask with the last standard flag", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=24"}, func(f *Features) { f.lwtMask = 0 }},
		{"the highest mask", []string{KeyLWTMark, "LWT_OPTIMIZATION_META_BIT_MASK=4294967280"}, func(f *Features) { f.lwtMask = 0xFFFFFFF0 }},
		{"the lowest code", []string{KeyRateLimitError, "ERROR_CODE=1"}, func(f *Features) { f.RateLimitCode = 1 }},
		{"the highest code", []string{KeyRateLimitError, "ERROR_CODE=2147483647"}, func(f *Features) { f.RateLimitCode = 1<<31 - 1 }},
		{"a code above", []string{KeyRateLimitError, "ERROR_CODE=2147483648"}, func(f *Features) { f.RateLimitCode = 0 }},
		{"no rate limit", []string{KeyRateLimitError, "ERROR_CODE="}, func(f *Features) { f.RateLimitCode = 0 }},
		{"negative code", []string{KeyRateLimitError, "ERROR_CODE=-1"}, func(f *Features) { f.RateLimitCode = 0 }},
		{"code of Unprepared", []string{KeyRateLimitError, "ERROR_CODE=9472"}, func(f *Features) { f.RateLimitCode = 0 }},
		{"no tablets", []string{KeyTabletsV1, "-"}, func(f *Features) { f.tabletsV1 = false }},
		{"no metadata ids", []string{KeyMetadataID, "-"}, func(f *Features) { f.MetadataID = false }},
	} {
		t.Run(m.name, func(t *testing.T) {
			want := all
			if m.want != nil {
				m.want(&want)
			}
			require.Equal(t, want, parseFeatures(fakecql.ScyllaSupported(m.changes...), frame.V4, false))
		})
	}
	require.Equal(t, Features{}, parseFeatures(map[string][]string{"COMPRESSION": {"lz4"}, keyShard: {}, keyShards: nil}, frame.V4, true))
	v2 := parseFeatures(fakecql.ScyllaSupported(), frame.V4, true)
	require.True(t, v2.TabletsV2 && !v2.tabletsV1, "version 2 replaces version 1")
	require.False(t, parseFeatures(fakecql.ScyllaSupported(), frame.V5, false).MetadataID, "v5 has metadata ids without the extension")
	v3 := parseFeatures(fakecql.ScyllaSupported(), frame.V3, true)
	require.False(t, v3.MetadataID || v3.tabletsV1 || v3.TabletsV2, "v3 has neither custom payloads nor metadata ids")
	require.EqualValues(t, 8, v3.Shards)
}

// TestSupportedNumber requires that the first value with the prefix counts, and only a decimal number within the
// bounds. Any other one is 0.
func TestSupportedNumber(t *testing.T) {
	for _, m := range []struct {
		values []string
		want   int64
		ok     bool
	}{
		{[]string{"n=10"}, 10, true},
		{[]string{"n=19"}, 19, true},
		{[]string{"n=99"}, 99, true},
		{[]string{"n=9"}, 0, false},
		{[]string{"n=100"}, 0, false},
		{[]string{"x", "n=20", "n=30"}, 20, true},
		{[]string{"n=", "n=20"}, 0, false},
		{[]string{"20"}, 0, false},
		{nil, 0, false},
		{[]string{"n=1x"}, 0, false},
		{[]string{"n=99999999999999999999"}, 0, false},
	} {
		got, ok := supportedNumber(map[string][]string{"KEY": m.values}, "KEY", "n=", 10, 99)
		require.Equal(t, m.ok, ok, "%q", m.values)
		require.Equal(t, m.want, got, "%q", m.values)
	}
	require.Equal(t, []string{"a", "", "", ""}, []string{
		supportedValue(map[string][]string{"KEY": {"a", "b"}}, "KEY"), supportedValue(map[string][]string{"KEY": {}}, "KEY"),
		supportedValue(nil, "KEY"), supportedValue(map[string][]string{"KEY": {""}}, "KEY"),
	})
}

// TestSameSharding requires that connections agree on the shards if the number and the ignored bits are equal.
func TestSameSharding(t *testing.T) {
	f := Features{Shards: 8, Shard: 1, IgnoreMSB: 12}
	for want, others := range map[bool][]Features{
		true:  {f, {Shards: 8, Shard: 2, IgnoreMSB: 12, ShardAwarePort: 1}},
		false: {{Shards: 7, Shard: 1, IgnoreMSB: 12}, {Shards: 8, Shard: 1, IgnoreMSB: 11}, {}},
	} {
		for _, g := range others {
			require.Equal(t, want, f.SameSharding(&g), "%+v", g)
		}
	}
	require.EqualValues(t, -1, (&Features{}).ShardOf(5))
	require.EqualValues(t, 0, (&Features{Shards: 1}).ShardOf(5))
}

func FuzzParseFeatures(f *testing.F) {
	f.Add("8", "3", "12", "19042", "LWT_OPTIMIZATION_META_BIT_MASK=2147483648", "ERROR_CODE=17185")
	f.Add("-8", "9", "64", "0", "LWT_OPTIMIZATION_META_BIT_MASK=0", "ERROR_CODE=0")
	f.Fuzz(func(t *testing.T, shards, shard, msb, port, mask, code string) {
		got := parseFeatures(fakecql.ScyllaSupported(keyShards, shards, keyShard, shard, keyIgnoreMSB, msb, KeyShardAwarePort, port,
			KeyLWTMark, mask, KeyRateLimitError, code), frame.V4, true)
		if got.Shards < 0 || got.Shards > maxShards || got.Shard < 0 || got.Shards > 0 && got.Shard >= got.Shards || got.RateLimitCode < 0 {
			t.Fatalf("%+v", got)
		}
		if s := got.ShardOf(-1); s >= max(got.Shards, 0) && s != -1 {
			t.Fatalf("shard %d of %d", s, got.Shards)
		}
	})
}

// TestLWTMark covers a mask of 0, which in other drivers matched every statement.
func TestLWTMark(t *testing.T) {
	none, known := Features{}, Features{lwtMask: 0x80000000}
	for _, flags := range []int32{0, 1, -1, -0x80000000} {
		require.False(t, none.IsLWT(flags), "flags %#x without the extension", flags)
	}
	require.False(t, known.IsLWT(0x7FFFFFFF))
	require.True(t, known.IsLWT(-0x80000000))
	require.True(t, known.IsLWT(-0x80000000|frame.MetadataGlobalTablesSpec))
	two := Features{lwtMask: 0xC0000000}
	require.False(t, two.IsLWT(-0x80000000), "all bits of the mask must be set")
}

func TestConnStartupEchoesExtensions(t *testing.T) {
	for _, m := range []struct {
		name    string
		version byte
		config  func(*Config) // nil means none
		changes []string
		want    map[string]string
	}{
		{"ScyllaDB", frame.V4, nil, nil, map[string]string{
			KeyLWTMark: "LWT_OPTIMIZATION_META_BIT_MASK=2147483648", KeyRateLimitError: "ERROR_CODE=17185", KeyTabletsV1: "", KeyMetadataID: "",
		}},
		{"tablets v2", frame.V4, func(cfg *Config) { cfg.TabletsV2 = true }, []string{KeyLWTMark, "-", KeyRateLimitError, "-"}, map[string]string{KeyTabletsV2: "", KeyMetadataID: ""}},
		{
			"no tablets", frame.V4, func(cfg *Config) { cfg.NoTablets = true },
			[]string{KeyLWTMark, "-", KeyRateLimitError, "-"},
			map[string]string{KeyMetadataID: ""},
		},
		{
			"neither version of tablets", frame.V4, func(cfg *Config) { cfg.NoTablets, cfg.TabletsV2 = true, true },
			[]string{KeyLWTMark, "-", KeyRateLimitError, "-"},
			map[string]string{KeyMetadataID: ""},
		},
		{
			"nonsense", frame.V4, nil,
			[]string{KeyLWTMark, "x", KeyRateLimitError, "x", KeyTabletsV1, "-", KeyMetadataID, "-"},
			map[string]string{},
		},
		{"v5", frame.V5, nil, []string{KeyLWTMark, "-", KeyRateLimitError, "-", KeyTabletsV1, "-"}, map[string]string{}},
	} {
		t.Run(m.name, func(t *testing.T) {
			var got map[string]string
			s := &fakecql.Server{Version: m.version, Supported: func(*fakecql.Conn) map[string][]string { return fakecql.ScyllaSupported(m.changes...) }}
			s.Handle = func(p *fakecql.Conn, h wire.Header, body []byte) {
				got = p.Startup
				fakecql.Echo(p, h, body)
			}
			c := connectTo(t, s, func(cfg *Config) {
				if m.config != nil {
					m.config(cfg)
				}
			})
			_, err := c.ask(context.Background(), "x")
			require.NoError(t, err)
			got = maps.Clone(got)
			delete(got, "CQL_VERSION")
			require.Equal(t, m.want, got)
			require.EqualValues(t, 8, c.Features.Shards)
		})
	}
}

func TestConnLoginErrors(t *testing.T) {
	auth := plainLogin{}
	for _, m := range []struct {
		name, class string
		auth        cql.Authenticator
		code        cql.Code
		refused     bool
	}{
		{"wrong password", passwordClass, auth, cql.CodeCredentials, true},
		{"server is overloaded", passwordClass, auth, cql.CodeOverloaded, false},
		{"no authenticator", passwordClass, nil, 0, true},
		{"class is not allowed", "com.example.Other", auth, 0, true},
		{"connection breaks", passwordClass, auth, -1, false},
	} {
		t.Run(m.name, func(t *testing.T) {
			s := &fakecql.Server{Version: frame.V4, Auth: m.class}
			s.Handle = func(p *fakecql.Conn, h wire.Header, _ []byte) {
				if m.code < 0 {
					_ = p.Conn.Close()
					return
				}
				p.Reply(h.Stream, fakecql.OpError, fakecql.AppendString(wire.AppendInt(nil, int32(m.code)), "scripted"))
			}
			addr := s.Listen(t)
			cfg := testConfigOf(s)
			cfg.Auth = m.auth
			_, err := Dial(context.Background(), cfg, addr)
			require.Error(t, err)
			var login *LoginError
			require.Equal(t, m.refused, errors.As(err, &login), "%v", err)
		})
	}
}
