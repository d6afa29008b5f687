// SPDX-License-Identifier: Apache-2.0

package footer

import (
	"github.com/vecql/vecql/parquetscan/internal/crypt"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// The fields of a FileMetaData (parquet.thrift). It is untrusted: the memory of what is parsed is proportional to its
// length.

// A parsed is a FileMetaData. Of its Footer, Groups, CreatedBy, KeyValues and the row groups as in the file are set.
type parsed struct {
	Footer
	root       *element // of the schema
	rows       int64
	orders     []bool // the order of a column is the one of its type
	algorithm  *crypt.Algorithm
	signingKey []byte // metadata of the key that signs the footer
	end        int    // of the FileMetaData
}

// New parses a FileMetaData and checks it. The footer keeps b.
func New(b []byte) (*Footer, error) {
	p, err := parse(b)
	if err != nil {
		return nil, err
	}
	return p.footer()
}

// footer returns the footer of a parsed FileMetaData.
func (p *parsed) footer() (out *Footer, err error) {
	f := p.Footer // without the rest of p
	out, f.Writer = &f, versionOf(f.CreatedBy)
	if out.Nodes, out.Leaves, err = nodesOf(p.root); err != nil {
		return nil, err
	}
	if arrow := out.Find(ArrowSchemaKey); arrow != nil {
		ApplyArrowSchema(out.Nodes, string(arrow))
	}
	columns := len(out.Leaves)
	for i, l := range out.Leaves {
		l.Ordered = len(p.orders) == columns && p.orders[i]
	}
	for i := range out.Groups {
		g := &out.Groups[i]
		if g.Rows < 0 || out.Rows+g.Rows < out.Rows || len(g.Chunks) != columns {
			return nil, failure.Corrupt("row group %d has %d rows and %d of %d columns", i, g.Rows, len(g.Chunks), columns)
		}
		g.First = out.Rows
		out.Rows += g.Rows
	}
	if out.Rows != p.rows && p.rows != 0 { // some old writers leave it 0
		return nil, failure.Corrupt("footer with %d rows, but row groups with %d", p.rows, out.Rows)
	}
	return out, nil
}

// parse parses the FileMetaData that b begins with, and keeps b.
func parse(b []byte) (*parsed, error) {
	p, r, seen := parsed{Footer: Footer{Length: int64(len(b))}}, thrift.Reader{B: b}, 0
	var invalid error
	for id, typ := range r.Fields() {
		if id < 1 || id > 9 || !p.field(&r, id, typ, &invalid) {
			r.Skip(typ, 1)
			continue
		}
		seen |= 1 << id
	}
	p.end = r.Pos
	switch {
	case r.Failed():
		return nil, failure.Corrupt("footer is not a valid FileMetaData (at byte %d of %d)", r.Pos, len(b))
	case seen&(1<<1|1<<2|1<<3|1<<4) != 1<<1|1<<2|1<<3|1<<4 || p.root == nil:
		return nil, failure.Corrupt("footer lacks its version, schema, number of rows or row groups")
	}
	return &p, invalid
}

// field reads a field. It returns false if FileMetaData has no such field. invalid is an error of the schema.
func (p *parsed) field(r *thrift.Reader, id int16, typ byte, invalid *error) bool {
	switch {
	case id == 1 && typ == thrift.I32:
		r.I64() // the version means nothing
	case id == 2 && typ == thrift.List:
		p.root, *invalid = readTree(r)
	case id == 3 && typ == thrift.I64:
		p.rows = r.I64()
	case id == 4 && typ == thrift.List:
		list := thrift.Reader{B: r.B[r.Pos:]}
		p.Groups = readGroups(&list)
		p.raw = list.B[:list.Pos]
		r.Pos, r.Bad, r.Short = r.Pos+list.Pos, list.Bad, list.Short
	case id == 5 && typ == thrift.List:
		p.KeyValues = readKeyValues(r)
	case id == 6 && typ == thrift.Binary:
		p.CreatedBy = string(r.Binary())
	case id == 7 && typ == thrift.List:
		p.orders = readOrders(r)
	case id == 8 && typ == thrift.Struct:
		p.algorithm = crypt.ReadAlgorithm(r)
	case id == 9 && typ == thrift.Binary:
		p.signingKey = r.Binary()
	default:
		return false
	}
	return true
}

// readKeyValues reads a list of KeyValues. Without a key r is bad.
func readKeyValues(r *thrift.Reader) []KeyValue {
	all := make([]KeyValue, r.Structs())
	for i := range all {
		kv := &all[i]
		for id, typ := range r.Fields() {
			switch {
			case id == 1 && typ == thrift.Binary:
				kv.Key = r.Binary()
			case id == 2 && typ == thrift.Binary:
				kv.Value = r.Binary()
			default:
				r.Skip(typ, 2)
			}
		}
		if kv.Key == nil {
			r.Bad = true
		}
		if r.Failed() {
			return nil
		}
	}
	return all
}

// readOrders reads a list of ColumnOrders, and reports for each whether it is TYPE_ORDER.
func readOrders(r *thrift.Reader) []bool {
	all := make([]bool, r.Structs())
	for i := range all {
		for id, typ := range r.Fields() {
			all[i] = all[i] || id == 1 && typ == thrift.Struct
			r.Skip(typ, 2)
		}
	}
	return all
}
