// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
	"github.com/vecql/vecql/stats"
)

// Tests of the writer over TLS.

// countingConn counts writes.
type countingConn struct {
	net.Conn
	writes, bytes atomic.Int64
}

func (c *countingConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	c.bytes.Add(int64(len(b)))
	return c.Conn.Write(b)
}

// TestTLSSharedWrites queues frames before a write: all of them must leave with one write, in full records.
func TestTLSSharedWrites(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	now := time.Now() // certificates are not valid at the time of a bubble
	client.Time = func() time.Time { return now }
	for _, m := range []struct {
		version    byte
		compressor cql.Compressor
	}{{4, nil}, {5, nil}, {5, frame.LZ4{}}} {
		synctest.Test(t, func(t *testing.T) {
			sock := &countingConn{}
			s := &fakecql.Server{
				Version: m.version, Compressor: m.compressor, Wrap: func(c net.Conn) net.Conn { return tls.Server(c, server) },
			}
			c := connectInMemory(t, s, func(cfg *Config) {
				cfg.TLS = client
				dial := cfg.Dial
				cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					var err error
					sock.Conn, err = dial(ctx, addr)
					return sock, err
				}
			})
			synctest.Wait() // for the writer of the handshake
			c.w.mu.Lock()
			c.w.leading = true
			c.w.mu.Unlock()
			const frames, size = 100, 1000
			var wg sync.WaitGroup
			for i := range frames {
				wg.Go(func() {
					question := strings.Repeat(fmt.Sprint(i%10), size)
					answer, err := c.ask(t.Context(), question)
					if err != nil || answer != question {
						t.Errorf("got %.10q, %v", answer, err)
					}
				})
			}
			synctest.Wait()
			writes, bytes := sock.writes.Load(), sock.bytes.Load()
			c.Flush()
			require.Equal(t, writes+1, sock.writes.Load())
			require.Less(t, sock.bytes.Load()-bytes, int64(frames*(size+wire.HeaderSize)+10*(recordHeaderSize+40)))
			wg.Wait()
			endConn(c, s)
		})
	}
}

// TestTLSFarewell requires that a connection that the driver closes ends with the alert of TLS, by which the server
// distinguishes it from one that was cut off, and that a broken one does not.
func TestTLSFarewell(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	now := time.Now() // certificates are not valid at the time of a bubble
	client.Time = func() time.Time { return now }
	for name, m := range map[string]struct {
		end   func(t *testing.T, c *Conn)
		alert bool
	}{
		"drained": {func(t *testing.T, c *Conn) { require.NoError(t, c.Drain(t.Context(), stats.EndClosed)) }, true},
		"closed":  {func(_ *testing.T, c *Conn) { c.Close(ErrDrained) }, true},
		"broken":  {func(_ *testing.T, c *Conn) { c.Close(io.ErrClosedPipe) }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakecql.Server{Version: 5, Wrap: func(c net.Conn) net.Conn { return tls.Server(c, server) }}
			var sock *tapConn
			c := connectInMemory(t, s, func(cfg *Config) { cfg.TLS = client }, tap(&sock))
			_, err := c.ask(t.Context(), "question")
			require.NoError(t, err)
			synctest.Wait()
			before := len(sock.bytes())
			m.end(t, c)
			<-c.tasks.Done()
			require.Equal(t, m.alert, len(sock.bytes()) > before, name)
			requireOnlyTLS(t, sock.bytes())
			s.Stop()
		})
	}
}

// TestTLSTornWrite ends a write after n bytes of records. A frame with a byte that the server may have decrypted
// may have left; frames in records that were not begun were not sent.
func TestTLSTornWrite(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	now := time.Now() // certificates are not valid at the time of a bubble
	client.Time = func() time.Time { return now }
	const frames, body = 4, 20_000
	const record = 16<<10 + recordHeaderSize + 17 // TLS 1.3: a full record as written
	for _, n := range []int{0, 1, record - 1, record, record + 1, 3 * record, 4*record + 100} {
		synctest.Test(t, func(t *testing.T) {
			line := &fakecql.CutLine{Left: 1 << 30}
			s := &fakecql.Server{
				Version: 4, Wrap: func(c net.Conn) net.Conn { return tls.Server(c, server) },
				Handle: func(*fakecql.Conn, wire.Header, []byte) {}, // an answer could arrive before the end
			}
			c := connectInMemory(t, s, func(cfg *Config) {
				cfg.TLS = client
				dial := cfg.Dial
				cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
					c, err := dial(ctx, addr)
					return line.Wrap(c), err
				}
			})
			synctest.Wait() // for the writer of the handshake
			c.w.mu.Lock()
			c.w.leading = true
			c.w.mu.Unlock()
			var errs [frames]chan error
			for i := range errs {
				errs[i] = make(chan error, 1)
				go func() {
					_, err := c.ask(t.Context(), strings.Repeat("x", body))
					errs[i] <- err
				}()
				synctest.Wait()
			}
			line.SetLeft(n)
			c.Flush()
			begun := (n + record - 1) / record * (16 << 10) // bytes of content in the records that were begun
			for i := range errs {
				err := <-errs[i]
				require.ErrorIs(t, err, ErrClosed)
				require.Equal(t, i*(wire.HeaderSize+body) < begun, mayHaveLeft(err), "frame %d, %d bytes written", i, n)
			}
			endConn(c, s)
		})
	}
}

// TestTLSKeyUpdate: the server requests new keys of an idle connection (KeyUpdate, RFC 8446, section 4.6.3). The answer
// must leave although no request does, and requests that follow must use the new keys.
func TestTLSKeyUpdate(t *testing.T) {
	server, client := fakecql.TLSPair(t, "127.0.0.1")
	var secrets bytes.Buffer
	server.KeyLogWriter, server.SessionTicketsDisabled = &secrets, true
	var below net.Conn
	above := &countingConn{} // each write is a record
	asked := make(chan string, 2)
	s := &fakecql.Server{
		Version: 5,
		Wrap: func(c net.Conn) net.Conn {
			below, above.Conn = c, tls.Server(c, server)
			return above
		},
		Handle: func(_ *fakecql.Conn, _ wire.Header, body []byte) { asked <- string(body) },
	}
	var sock *tapConn
	c := connectInMemory(t, s, func(cfg *Config) { cfg.TLS = client }, tap(&sock))
	defer endConn(c, s)
	if suite := c.Sock.(*tls.Conn).ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skipf("this processor has no instructions for AES and negotiates %s; the test encrypts by TLS_AES_128_GCM_SHA256", tls.CipherSuiteName(suite))
	}
	before := len(sock.bytes())
	_, err := below.Write(keyUpdate(t, secrets.String(), uint64(above.writes.Load())))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(sock.bytes()) > before }, 5*time.Second, time.Millisecond)
	requireOnlyTLS(t, sock.bytes())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.ask(ctx, "question")
		ended <- err
	}()
	require.Equal(t, "question", <-asked)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// keyUpdate returns a record of the server that requests new keys. seq is its number. keyLog is in the format of
// tls.Config.KeyLogWriter; the cipher is AES-128-GCM (RFC 8446, section 5.2 and 7.3).
func keyUpdate(t *testing.T, keyLog string, seq uint64) []byte {
	t.Helper()
	_, rest, found := strings.Cut(keyLog, "SERVER_TRAFFIC_SECRET_0 ")
	require.True(t, found)
	secret, err := hex.DecodeString(strings.Fields(rest)[1])
	require.NoError(t, err)
	expand := func(label string, n int) []byte {
		label = "tls13 " + label
		info := append([]byte{0, byte(n), byte(len(label))}, label...)
		out, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), n)
		require.NoError(t, err)
		return out
	}
	block, err := aes.NewCipher(expand("key", 16))
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	nonce := expand("iv", 12)
	binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(nonce[4:])^seq)
	message := []byte{24, 0, 0, 1, 1, 22} // KeyUpdate, update_requested, in a handshake record
	header := []byte{23, 3, 3, 0, byte(len(message) + gcm.Overhead())}
	return append(header, gcm.Seal(nil, nonce, message, header)...)
}

// FuzzRecordsRead holds the bytes that TLS gets equal to the bytes of the socket, and no read has bytes of two records.
func FuzzRecordsRead(f *testing.F) {
	one := []byte{23, 3, 3, 0, 2, 'a', 'b'}
	f.Add(bytes.Repeat(one, 3), 512)
	f.Add(append(bytes.Repeat(one, 3), one[:3]...), 1)
	f.Add(append([]byte{23, 3, 3, 0x40, 0}, make([]byte, 1<<14)...), 5)
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"), 512)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		b := make([]byte, max(1, size&0xFFFF))
		for name, src := range map[string]io.Reader{
			"one read": bytes.NewReader(stream), "bytes": iotest.OneByteReader(bytes.NewReader(stream)),
		} {
			r := &records{in: wire.NewInput(src)}
			var got []byte
			for {
				more, within := r.more(), r.left
				n, err := r.Read(b)
				got = append(got, b[:n]...)
				require.True(t, within == 0 || n <= within, name)
				require.False(t, more && within == 0 && n == 0, name)
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
			}
			require.Equal(t, string(stream), string(got), name)
		}
	})
}
