// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
	"github.com/vecql/vecql/parquetscan/arrowstream"
)

// The coder of *column.Batch:
//
//	version    1 byte, 1
//	checksum   CRC-32C of the rest, 4 bytes, little endian
//	first row  Source.FirstRow, varint
//	row group  Source.RowGroup, varint
//	file       Source.File: its length as uvarint, its bytes
//	rows       an Arrow IPC stream of one record batch (Arrow Columnar Format, "IPC Streaming Format")
//
// The other fields of Source are not encoded: they are about the response of a node. The checksum protects against
// damage. Lengths in the stream are compared with its bytes (package parquetscan/arrowstream).

const batchVersion = 1

// ErrBatch means that bytes are not a batch that this package encoded: they are damaged or of another version.
var ErrBatch = errors.New("beamvecql: decode a batch: not an encoded batch")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encodeBatch returns the bytes of a batch. nil encodes as a batch without rows and columns.
func encodeBatch(b *column.Batch) ([]byte, error) {
	if b == nil {
		b = &column.Batch{}
	}
	rec, err := recordOf(b)
	if err != nil {
		return nil, fmt.Errorf("beamvecql: encode a batch: %w", err)
	}
	head := make([]byte, 5, 64+len(b.Source.File))
	head = binary.AppendVarint(head, b.Source.FirstRow)
	head = binary.AppendVarint(head, int64(b.Source.RowGroup))
	head = binary.AppendUvarint(head, uint64(len(b.Source.File)))
	out := bytes.NewBuffer(append(head, b.Source.File...))
	w := ipc.NewWriter(out, ipc.WithSchema(rec.Schema()))
	if err = w.Write(rec); err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("beamvecql: encode a batch: %w", err)
	}
	return seal(out.Bytes()), nil
}

// seal stores version and checksum in the first bytes of a batch, and returns it.
func seal(data []byte) []byte {
	data[0] = batchVersion
	binary.LittleEndian.PutUint32(data[1:], crc32.Checksum(data[5:], castagnoli))
	return data
}

// recordOf returns a batch as a record batch. A dictionary with more entries than the batch has rows is left out: it
// belongs to a whole column chunk, and would be sent with each batch.
func recordOf(b *column.Batch) (arrow.RecordBatch, error) {
	rec, err := arrowcolumn.Record(b)
	if err != nil {
		return nil, err
	}
	fields, large := rec.Schema().Fields(), false
	for i := range b.Columns {
		coded, ok := fields[i].Type.(*arrow.DictionaryType)
		if d := b.Columns[i].Dict; ok && d != nil && d.Len() > b.Rows {
			fields[i].Type, large = coded.ValueType, true
		}
	}
	if !large {
		return rec, nil
	}
	return arrowcolumn.RecordAs(b, arrow.NewSchema(fields, nil))
}

// decodeBatch returns the batch of bytes that encodeBatch returned. The batch has memory of its own.
func decodeBatch(data []byte) (b *column.Batch, err error) {
	if len(data) < 5 || data[0] != batchVersion {
		return nil, fmt.Errorf("%w: %d bytes without the version %d", ErrBatch, len(data), batchVersion)
	}
	if crc32.Checksum(data[5:], castagnoli) != binary.LittleEndian.Uint32(data[1:]) {
		return nil, fmt.Errorf("%w: the checksum of %d bytes differs", ErrBatch, len(data))
	}
	source, rest, ok := cutSource(data[5:])
	if !ok {
		return nil, fmt.Errorf("%w: the source of the rows is malformed", ErrBatch)
	}
	defer func() { // arrow-go panics on some malformed input
		if p := recover(); p != nil {
			b, err = nil, fmt.Errorf("%w: the rows: %v", ErrBatch, p)
		}
	}()
	r, err := arrowstream.NewReader(bytes.NewReader(rest))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	if !r.Next() {
		return nil, fmt.Errorf("%w: no rows: %w", ErrBatch, errors.Join(r.Err()))
	}
	if b, err = arrowcolumn.Batch(r.RecordBatch()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBatch, err)
	}
	b.Source = source
	return b, nil
}

// cutSource parses the fields before the rows.
func cutSource(b []byte) (s column.Source, rest []byte, ok bool) {
	first, n := binary.Varint(b)
	if n <= 0 {
		return s, nil, false
	}
	b = b[n:]
	group, n := binary.Varint(b)
	if n <= 0 || group < math.MinInt32 || group > math.MaxInt32 {
		return s, nil, false
	}
	b = b[n:]
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return s, nil, false
	}
	b = b[n:]
	return column.Source{FirstRow: first, RowGroup: int(group), File: string(b[:length])}, b[length:], true
}
