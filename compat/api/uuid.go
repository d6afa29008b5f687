// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/cql"
)

// UUIDFromBytes returns the UUID of 16 bytes.
func UUIDFromBytes(input []byte) (u cql.UUID, err error) {
	if len(input) != len(u) {
		return u, errors.New("UUIDs must be exactly 16 bytes long")
	}
	return cql.UUID(input), nil
}

// ParseUUID parses 32 hexadecimal digits, as v1.7 and the fork do. Dashes may stand between any two bytes.
func ParseUUID(input string) (cql.UUID, error) {
	var u cql.UUID
	digits := input
	if at := strings.IndexByte(input, '-'); at >= 0 {
		for i, n := 0, 0; i < len(input); i++ {
			if input[i] != '-' {
				n++
			} else if n%2 == 1 {
				return u, fmt.Errorf("invalid UUID %q", input)
			}
		}
		digits = strings.ReplaceAll(input, "-", "")
	}
	if len(digits) != 32 {
		return u, fmt.Errorf("invalid UUID %q", input)
	}
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return cql.UUID{}, fmt.Errorf("invalid UUID %q", input)
	}
	return u, nil
}
