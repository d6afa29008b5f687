// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Values from JSON: INSERT JSON and from_json. The texts of errors are not Cassandra's, which name classes of Java.

// decodeJSON parses a JSON text. Numbers are json.Number.
func decodeJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// insertJSON returns the columns of INSERT JSON, which are all columns of the table, and their nodes.
func (c *compiler) insertJSON(s *cql.Insert) ([]string, func(i int, col *column) (*node, error), error) {
	t := c.t
	source, err := c.term(s.JSON, t.spec(jsonColumn, Native("text")))
	if err != nil {
		return nil, nil, err
	}
	names := make([]string, len(t.all))
	for i, col := range t.all {
		names[i] = col.name
	}
	value := func(_ int, col *column) (*node, error) {
		return &node{typ: col.typ, eval: func(x *env) ([]byte, error) {
			row, err := x.jsonRow(source, t)
			if err != nil {
				return nil, err
			}
			b, ok := row[col]
			if !ok && s.DefaultUnset {
				return unset, nil
			}
			return b, nil
		}}, nil
	}
	return names, value, nil
}

// jsonRow returns the values in the JSON object that source yields, by column. It parses the object once per execution.
func (x *env) jsonRow(source *node, t *table) (map[*column][]byte, error) {
	if row := x.json[source]; row != nil {
		return row, nil
	}
	b, err := source.eval(x)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, invalid("Got null for INSERT JSON values")
	}
	if isUnset(b) {
		b = nil
	}
	v, err := decodeJSON(string(b))
	object, ok := v.(map[string]any)
	switch {
	case err == nil && v == nil:
		return nil, invalid("Got null for INSERT JSON values")
	case err == nil && !ok:
		err = errors.New("not an object")
		fallthrough
	case err != nil:
		return nil, invalid("Could not decode JSON string as a map: %v. (String was: %s)", err, b)
	}
	row, object := map[*column][]byte{}, foldNames(object)
	for _, col := range t.all {
		v, ok := object[col.name]
		if !ok {
			continue
		}
		delete(object, col.name)
		if row[col], err = col.typ.fromJSON(v); err != nil {
			var done *Error
			if errors.As(err, &done) {
				return nil, err
			}
			return nil, invalid("Error decoding JSON value for %s: %s", col.name, err)
		}
	}
	if len(object) > 0 {
		return nil, invalid("JSON values map contains unrecognized column: %s", sortedKeys(object)[0])
	}
	if x.json == nil {
		x.json = map[*node]map[*column][]byte{}
	}
	x.json[source] = row
	return row, nil
}

// foldNames returns the object with its keys as names: in lower case unless they are in double quotes.
func foldNames(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for k, v := range object {
		if n := len(k); n > 1 && k[0] == '"' && k[n-1] == '"' {
			k = k[1 : n-1]
		} else {
			k = strings.ToLower(k)
		}
		out[k] = v
	}
	return out
}

// fromJSONCall compiles from_json as a value of recv.
func (c *compiler) fromJSONCall(e *cql.Call, recv Column) (*node, error) {
	if c.selecting {
		return nil, invalid("from_json() cannot be used in the selection clause of a SELECT statement")
	}
	if len(e.Args) != 1 {
		return nil, invalid("Invalid number of arguments for function system.from_json(text)")
	}
	spec := recv
	spec.Name, spec.Type = argName(0, "from_json"), Native("text")
	arg, err := c.term(e.Args[0], spec)
	if err != nil {
		return nil, err
	}
	return &node{typ: recv.Type, eval: func(x *env) ([]byte, error) {
		b, err := arg.eval(x)
		if err != nil || b == nil || isUnset(b) {
			return b, err
		}
		failed := func(message string) error {
			return &Error{
				Code: CodeFunctionFailure, Message: message, Keyspace: "system", Function: "from_json", ArgTypes: []string{"text"},
			}
		}
		v, err := decodeJSON(string(b))
		if err != nil {
			return nil, failed(fmt.Sprintf("execution of 'system.from_json[text]' failed: Could not decode JSON string '%s': %v", b, err))
		}
		if b, err = recv.Type.fromJSON(v); err != nil {
			return nil, failed("org.apache.cassandra.serializers.MarshalException: " + err.Error())
		}
		return b, nil
	}}, nil
}

// isFromJSON reports whether e calls from_json.
func isFromJSON(e *cql.Call) bool {
	name := strings.ToLower(e.Name.Name)
	return (name == "from_json" || name == "fromjson") && (e.Name.Keyspace == "" || e.Name.Keyspace == "system")
}

// unexpectedJSON is the error of a value of another kind.
func (t *Type) unexpectedJSON(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return badValue("Expected a value of type %s, but got: %s", t, text)
}

// fromJSON returns a JSON value as a value of type t. Any type accepts its literal as a string.
func (t *Type) fromJSON(v any) ([]byte, error) {
	text, isText := v.(string)
	switch {
	case v == nil:
		return nil, nil
	case t.hasParts():
		if isText {
			var err error
			if v, err = decodeJSON(text); err != nil {
				return nil, badValue("Could not decode JSON string '%s'", text)
			}
		}
		return t.fromJSONParts(v)
	case isText && t.Kind == KindDuration: // its errors do not name the column
		b, err := t.parseText(text)
		return b, asInvalid(err)
	case isText:
		return t.parseText(text)
	}
	number, isNumber := v.(json.Number)
	text = number.String()
	whole := isNumber && !strings.ContainsAny(text, ".eE")
	if f, err := number.Float64(); isNumber && !whole && err == nil {
		text = formatFloat(f, 64) // other numbers are doubles to Cassandra
	}
	switch t.Kind {
	case KindBoolean:
		if b, ok := v.(bool); ok {
			return boolBytes(b), nil
		}
	case KindTimestamp: // Cassandra takes only numbers that do not fit 32 bits
		if _, err := strconv.ParseInt(text, 10, 32); whole && err != nil {
			return t.parseText(text)
		}
	case KindInt, KindBigInt:
		if whole {
			return t.parseText(text)
		}
	case KindSmallInt, KindTinyInt, KindFloat, KindDouble, KindDecimal, KindVarint:
		if isNumber {
			return t.parseText(text)
		}
	}
	return nil, t.unexpectedJSON(v)
}

// fromJSONParts returns a collection, vector, tuple or user-defined type.
func (t *Type) fromJSONParts(v any) ([]byte, error) {
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	if t.Kind == KindMap || t.Kind == KindUDT {
		if !isObject {
			return nil, t.unexpectedJSON(v)
		}
		if t.Kind == KindUDT {
			return t.fromJSONFields(foldNames(object))
		}
		return t.fromJSONMap(object)
	}
	if !isList {
		return nil, t.unexpectedJSON(v)
	}
	if n := len(t.Elems); t.Kind == KindTuple && len(list) != n || t.Kind == KindVector && len(list) != t.Dim {
		return nil, badValue("Expected %d values for %s, but got %d", max(n, t.Dim), t, len(list))
	}
	parts := make([][]byte, len(list))
	for i, e := range list {
		var err error
		if e == nil && t.Kind != KindTuple {
			return nil, badValue("Invalid null element in %s", map[bool]string{true: "set", false: "list"}[t.Kind == KindSet])
		}
		if parts[i], err = t.Elems[i%len(t.Elems)].fromJSON(e); err != nil {
			return nil, err
		}
	}
	return t.join(parts), nil
}

func (t *Type) fromJSONMap(object map[string]any) ([]byte, error) {
	var parts [][]byte
	for _, k := range sortedKeys(object) {
		if object[k] == nil {
			return nil, badValue("Invalid null value in map")
		}
		key, err := t.Elems[0].fromJSON(k)
		if err != nil {
			return nil, err
		}
		value, err := t.Elems[1].fromJSON(object[k])
		if err != nil {
			return nil, err
		}
		parts = append(parts, key, value)
	}
	return t.join(parts), nil
}

// fromJSONFields returns a user-defined type. Fields that the object does not have are NULL.
func (t *Type) fromJSONFields(object map[string]any) ([]byte, error) {
	parts := make([][]byte, len(t.Fields))
	for i, name := range t.Fields {
		var err error
		if parts[i], err = t.Elems[i].fromJSON(object[name]); err != nil {
			return nil, err
		}
	}
	for _, k := range sortedKeys(object) {
		if !slices.Contains(t.Fields, k) {
			return nil, badValue("Unknown field '%s' in value of user defined type %s", k, quoteName(t.Name))
		}
	}
	return joinTuple(parts), nil
}
