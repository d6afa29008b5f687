// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"encoding/base64"
	"encoding/binary"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Writing of Arrow's schema (Schema.fbs, Message.fbs; Columnar Format, "Encapsulated message format").

// An ArrowField is a field of Arrow's schema.
type ArrowField struct {
	Name      string
	Nullable  bool
	Type      ArrowType
	Children  []ArrowField
	Extension string // the name of its extension type, "" means none
	Data      string // the metadata of the extension type
}

// An ArrowType is a member of the union Type, with the fields of its table that have no default.
type ArrowType struct {
	Member byte
	Fields []ArrowParameter
	Zone   string // of a Timestamp
}

// An ArrowParameter is a field of a type's table: an integer of 1, 2 or 4 bytes.
type ArrowParameter struct {
	Slot, Size int
	Value      int32
}

// The members of the union Type.
const (
	ArrowInt             = 2
	ArrowFloatingPoint   = 3
	ArrowBinary          = 4
	ArrowUtf8            = 5
	ArrowBool            = 6
	ArrowDecimal         = 7
	ArrowDate            = 8
	ArrowTime            = 9
	ArrowTimestamp       = 10
	ArrowList            = 12
	ArrowStruct          = 13
	ArrowFixedSizeBinary = 15
	ArrowFixedSizeList   = typeFixedSizeList
	ArrowMap             = 17
)

// metadataV5 is the version of messages.
const metadataV5 = 4

// EncodeArrowSchema returns the value of [ArrowSchemaKey]: a message with the schema, in base64.
func EncodeArrowSchema(fields []ArrowField) string {
	b := flatbuffers.NewBuilder(1 << 10)
	list := arrowFields(b, fields)
	b.StartObject(4)
	b.PrependUOffsetTSlot(schemaFields, list, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(messageHeaderType, headerSchema, 0)
	b.PrependUOffsetTSlot(messageHeader, schema, 0)
	b.Finish(b.EndObject())
	message := b.FinishedBytes()
	for len(message)%8 != 0 {
		message = append(message, 0)
	}
	out := binary.LittleEndian.AppendUint32(nil, continuation)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(message)))
	return base64.StdEncoding.EncodeToString(append(out, message...))
}

// continuation is the marker before the length of a message.
const continuation = 0xFFFFFFFF

// arrowFields writes a vector of fields.
func arrowFields(b *flatbuffers.Builder, fields []ArrowField) flatbuffers.UOffsetT {
	at := make([]flatbuffers.UOffsetT, len(fields))
	for i := range fields {
		at[i] = fields[i].write(b)
	}
	return b.CreateVectorOfTables(at)
}

// write writes the table of a field.
func (f *ArrowField) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	children := arrowFields(b, f.Children)
	typ := f.Type.write(b)
	var metadata flatbuffers.UOffsetT
	if f.Extension != "" {
		metadata = b.CreateVectorOfTables([]flatbuffers.UOffsetT{
			keyValue(b, ExtensionName, f.Extension), keyValue(b, ExtensionMetadata, f.Data),
		})
	}
	name := b.CreateString(f.Name)
	b.StartObject(7)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependBoolSlot(fieldNullable, f.Nullable, false)
	b.PrependByteSlot(fieldTypeType, f.Type.Member, 0)
	b.PrependUOffsetTSlot(fieldType, typ, 0)
	b.PrependUOffsetTSlot(fieldChildren, children, 0)
	b.PrependUOffsetTSlot(fieldMetadata, metadata, 0)
	return b.EndObject()
}

// keyValue writes an entry of metadata.
func keyValue(b *flatbuffers.Builder, key, value string) flatbuffers.UOffsetT {
	k, v := b.CreateString(key), b.CreateString(value)
	b.StartObject(2)
	b.PrependUOffsetTSlot(keyValueKey, k, 0)
	b.PrependUOffsetTSlot(keyValueValue, v, 0)
	return b.EndObject()
}

// write writes the table of a type.
func (t *ArrowType) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var zone flatbuffers.UOffsetT
	if t.Zone != "" {
		zone = b.CreateString(t.Zone)
	}
	b.StartObject(3)
	for _, f := range t.Fields {
		switch f.Size {
		case 1:
			b.PrependBool(f.Value != 0)
		case 2:
			b.PrependInt16(int16(f.Value))
		default:
			b.PrependInt32(f.Value)
		}
		b.Slot(f.Slot)
	}
	b.PrependUOffsetTSlot(timestampZone, zone, 0)
	return b.EndObject()
}
