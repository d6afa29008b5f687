// SPDX-License-Identifier: Apache-2.0

package vecql

// ParseClassName parses a type in Cassandra's class grammar.
func ParseClassName(class string) (TypeInfo, error) { return CustomType{Class: class}, nil }
