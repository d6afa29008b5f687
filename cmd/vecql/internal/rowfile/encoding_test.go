// SPDX-License-Identifier: Apache-2.0

package rowfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Text in other encodings than UTF-8.

// wide returns a text in UTF-16, with the lower byte first.
func wide(text string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

// swapped returns a text with the bytes of each pair swapped.
func swapped(text string) string {
	out := []byte(text)
	for i := 0; i+1 < len(out); i += 2 {
		out[i], out[i+1] = out[i+1], out[i]
	}
	return string(out)
}

func TestEncodings(t *testing.T) {
	const text = "id,name,v\n1,é€,1\n2,\"日本, \U0001f600\",2\n3,\ufffd,3\n"
	all := []string{"1|é€|1", "2|日本, \U0001f600|2", "3|\ufffd|3"}
	const western = "id,name,v\n1,caf\xe9,1\n2,\x80,2\n"
	for _, c := range []struct {
		encoding, text string
		want           []string
	}{
		{"", text, all},
		{"utf-8", "\ufeff" + text, all},
		{"", wide("\ufeff" + text), all},
		{"", swapped(wide("\ufeff" + text)), all},
		{"utf-16", wide("\ufeff" + text), all},
		{"UTF-16LE", wide(text), all},
		{"utf-16le", wide("\ufeff" + text), all},
		{"utf-16be", swapped(wide(text)), all},
		{"utf-16be", wide("\ufeff" + text), []string{"!-: the columns do not match: there is no column \"id\""}},
		{"utf-16", wide(text), []string{"!-: the text has no byte order mark: --encoding is utf-16le or utf-16be"}},
		{"", "\xff\xfe\x00\x00i\x00\x00\x00", []string{"!-: the text is UTF-32"}},
		{"latin1", western, []string{"1|café|1", "2|\u0080|2"}},
		{"ISO-8859-1", western, []string{"1|café|1", "2|\u0080|2"}},
		{"windows-1252", western, []string{"1|café|1", "2|€|2"}},
		{"cp1252", western, []string{"1|café|1", "2|€|2"}},
		{"shift_jis", "id,name,v\n1,\x93\xfa\x96\x7b,1\n", []string{"1|日本|1"}},
		{"gb18030", "id,name,v\n1,\xc8\xd5\xb1\xbe,1\n", []string{"1|日本|1"}},
		{"koi8-r", "id,name,v\n1,\xcd\xc9\xd2,1\n", []string{"1|мир|1"}},
		// bytes that are not characters: the record is rejected
		{"", "id,name,v\n1,caf\xe9,1\n2,b,2\n", []string{"!line 2, column name: the text is not UTF-8; --encoding names another encoding", "2|b|2"}},
		{"utf-8", "id,name,v\n1,caf\xe9,1\n2,b,2\n", []string{"!line 2, column name: the text is not UTF-8", "2|b|2"}},
		{"iso-8859-7", "id,name,v\n1,a,1\n2,\xae,2\n3,c,3\n", []string{"1|a|1", "!line 3, column name: the text is not iso-8859-7", "3|c|3"}},
		{"shift_jis", "id,name,v\n1,\x93\xff,1\n2,b,2\n", []string{"!line 2, column name: the text is not shift_jis", "2|b|2"}},
		{"utf-16le", wide("id,name,v\n1,\ufffd") + "\x00\xd8" + wide(",1\n2,\ufffd,2\n"), []string{"!line 2, column name: the text is not UTF-16", "2|\ufffd|2"}},
		{"utf-16be", swapped(wide("id,name,v\n1,a,1\n2,")+"\x00\xdc") + swapped(wide(",2\n")), []string{"1|a|1", "!line 3, column name: the text is not UTF-16"}},
		{"utf-16le", wide("id,name,v\n1,a,1") + "x", []string{"!line 2, column v: the text is not UTF-16"}},
		{"", "id,na\xe9,v\n", []string{"!-: the header: the text is not UTF-8; --encoding"}},
	} {
		encoding, err := ParseEncoding(c.encoding)
		require.NoError(t, err)
		got := readText(t, Options{Format: CSV, Encoding: encoding}, c.text)
		require.Len(t, got, len(c.want), "%s: %q", c.encoding, got)
		for i, want := range c.want {
			if strings.HasPrefix(want, "!") {
				require.Contains(t, got[i], want, "%s: %q", c.encoding, c.text)
				continue
			}
			require.Equal(t, want, got[i], "%s: %q", c.encoding, c.text)
		}
	}
	_, err := ParseEncoding("none")
	require.ErrorContains(t, err, `unknown encoding "none", want a name such as utf-8, utf-16, latin1 or windows-1252`)
}

// TestEncodingsOfJSON reads objects, whose format the first characters show, too.
func TestEncodingsOfJSON(t *testing.T) {
	line := `{"id":1,"name":"é","v":1}` + "\n"
	require.Equal(t, []string{"1|é|1"}, readText(t, Options{}, wide("\ufeff"+line)))
	little, err := ParseEncoding("utf-16le")
	require.NoError(t, err)
	require.Equal(t, []string{"1|é|1"}, readText(t, Options{Encoding: little}, wide(line)))
	latin, err := ParseEncoding("latin1")
	require.NoError(t, err)
	require.Equal(t, []string{"1|é|1"}, readText(t, Options{Format: JSON, Encoding: latin}, "{\"id\":1,\"name\":\"\xe9\",\"v\":1}\n"))
	require.Equal(t, "!line 1: the text is not UTF-16", readText(t, Options{Format: JSON, Encoding: little}, wide(`{"id":1,"name":"`)+"\x00\xd8"+wide("\"}\n"))[0])
}

// TestLongTextInAnotherEncoding has characters at each place of a block of the decoder.
func TestLongTextInAnotherEncoding(t *testing.T) {
	var text strings.Builder
	text.WriteString("\ufeffid,name,v\n")
	var want []string
	for i := range 3000 {
		name := strings.Repeat("x", i%5) + "\U0001f600é\ufffd"
		text.WriteString("7," + name + ",1\n")
		want = append(want, "7|"+name+"|1")
	}
	require.Equal(t, want, readText(t, Options{Format: CSV}, wide(text.String())))
}

// TestInferInAnotherEncoding infers types, and reads the rows, with one encoding.
func TestInferInAnotherEncoding(t *testing.T) {
	encoding, err := ParseEncoding("windows-1252")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(path, []byte("id,pr\xe9nom\n1,Ren\xe9\n"), 0o600))
	o, err := Infer(t.Context(), Options{Encoding: encoding}, 10, path)
	require.NoError(t, err)
	require.Equal(t, []string{"id", "prénom"}, o.Fields.Names())
	require.Equal(t, column.Int64, o.Fields[0].Type.Kind)
	b := readAll(t, o, path)
	require.Equal(t, "René", b.Columns[1].Value(0))
	require.NoError(t, os.WriteFile(path, []byte("id,name\n1,a\n2,\xae\n"), 0o600))
	o.Encoding, err = ParseEncoding("iso-8859-7")
	require.NoError(t, err)
	_, err = Infer(t.Context(), Options{Encoding: o.Encoding}, 10, path)
	require.ErrorContains(t, err, path+", line 3, column name: the text is not iso-8859-7")
}
