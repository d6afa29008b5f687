// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/vecql/vecql/cql"
)

// ParseUUID parses 32 hexadecimal digits, as v1.7 and the fork do. Dashes may stand between any two bytes.
func ParseUUID(input string) (cql.UUID, error) {
	var u cql.UUID
	digits := input
	if at := strings.IndexByte(input, '-'); at >= 0 {
		for i, n := 0, 0; i < len(input); i++ {
			if input[i] != '-' {
				n++
			} else if n%2 == 1 {
				return u, fmt.Errorf("gocql: invalid UUID %.60q", input)
			}
		}
		digits = strings.ReplaceAll(input, "-", "")
	}
	if len(digits) != 32 {
		return u, fmt.Errorf("gocql: invalid UUID %.60q", input)
	}
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return cql.UUID{}, fmt.Errorf("gocql: invalid UUID %.60q", input)
	}
	return u, nil
}
