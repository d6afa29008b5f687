// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// text returns a text.
func (t *Texts) text(i int) string { return string(t.Data[t.At[i]+TextGap : t.At[i+1]]) }

// TestTextsOfDictionary reads a dictionary after texts were found in a page of the same length, whose texts have other
// lengths.
func TestTextsOfDictionary(t *testing.T) {
	l := &footer.Leaf{Type: column.Type{Kind: column.String}, Physical: format.ByteArray}
	c := Decoder{leaf: l, DictLen: -1, limit: 1000, Data: []byte("\x03\x00\x00\x00abc\x01\x00\x00\x00d")}
	found, err := c.FindTexts(2)
	require.NoError(t, err)
	require.Equal(t, "abcd", found.text(0)+found.text(1))
	dictionary := []byte("\x01\x00\x00\x00e\x03\x00\x00\x00fgh")
	head := page.Header{Type: format.DictionaryPage, Encoding: format.Plain, NumValues: 2}
	require.NoError(t, c.LoadDictionary(&page.Page{Header: head, Data: dictionary}))
	require.Equal(t, []string{"e", "fgh"}, []string{string(c.Dict.Bytes(0)), string(c.Dict.Bytes(1))})
}

// FuzzFindTexts finds texts in any bytes, and compares them with those that are read one by one.
func FuzzFindTexts(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00a\x00\x00\x00\x00"), uint8(2))
	f.Add([]byte("\x01\x00\x00\x00"), uint8(1))
	f.Add([]byte("\xff\xff\xff\xff"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		at := make([]int32, int(n)+1)
		err := findTexts(at, data)
		c := Decoder{Data: data}
		for i := range int(n) {
			want, wrong := c.byteArray()
			if wrong != nil {
				require.ErrorIs(t, err, failure.ErrCorrupt)
				return
			}
			if err == nil {
				require.Equal(t, string(want), (&Texts{data, at}).text(i))
			}
		}
		require.NoError(t, err)
	})
}
