// SPDX-License-Identifier: Apache-2.0

package cql

// Interfaces of values and destinations that encode and decode themselves.

// A Marshaler is a value that encodes itself. A nil pointer is NULL, and its method is not called. A panic of the
// method becomes an error of the value.
type Marshaler interface {
	// MarshalCQL returns the encoded value without its length; nil means NULL.
	MarshalCQL(info TypeInfo) ([]byte, error)
}

// An Unmarshaler is a destination that decodes itself. A panic of the method becomes an error of the value.
type Unmarshaler interface {
	// UnmarshalCQL decodes data, a value without its length, into the receiver; nil means NULL. data is a copy that
	// UnmarshalCQL may keep.
	UnmarshalCQL(info TypeInfo, data []byte) error
}

// A UDTMarshaler is a value of a user-defined type that encodes itself field by field.
type UDTMarshaler interface {
	// MarshalUDT returns the encoded field with that name; nil means NULL.
	MarshalUDT(name string, info TypeInfo) ([]byte, error)
}

// A UDTUnmarshaler is a destination for a user-defined type that decodes itself field by field.
type UDTUnmarshaler interface {
	// UnmarshalUDT stores the field with that name; nil means NULL. data is a copy that UnmarshalUDT may keep.
	UnmarshalUDT(name string, info TypeInfo, data []byte) error
}
