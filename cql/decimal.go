// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A Decimal is a CQL decimal (native_protocol_v5.spec, section 5.7): Unscaled times 10^-Scale. Equal numbers may differ
// in scale, such as 1.0 and 1.00. A nil Unscaled means 0.
type Decimal struct {
	Unscaled *big.Int
	Scale    int32
}

// String returns the decimal digits: "-12.50" for -1250 and scale 2. It uses an exponent for scales that would need
// many zeros: "5E+40".
func (d Decimal) String() string {
	digits := "0"
	if d.Unscaled != nil {
		digits = d.Unscaled.String()
	}
	const maxZeros = 20
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	scale := int64(d.Scale)
	switch {
	case scale == 0:
	case scale < 0 || scale-int64(len(digits)) > maxZeros:
		digits += "E" + big.NewInt(-scale).String()
		if scale < 0 {
			digits = strings.Replace(digits, "E", "E+", 1)
		}
	case scale >= int64(len(digits)):
		digits = "0." + strings.Repeat("0", int(scale)-len(digits)) + digits
	default:
		digits = digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
	}
	return sign + digits
}

// ParseDecimal parses decimal digits with an optional sign, point and exponent, such as String returns: "-12.50" is
// -1250 with scale 2, "5E+40" is 5 with scale -40.
func ParseDecimal(s string) (Decimal, error) {
	fault := func(reason string) (Decimal, error) {
		return Decimal{}, fmt.Errorf("vecql: %.60q is not a decimal%s", s, reason)
	}
	digits, exponent := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 64)
		if err != nil {
			return fault("")
		}
		digits, exponent = s[:i], e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	v, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || strings.ContainsAny(fraction, "+-") {
		return fault("")
	}
	scale := int64(len(fraction)) - exponent
	if int64(int32(scale)) != scale {
		return fault(": its scale exceeds 32 bits")
	}
	return Decimal{Unscaled: v, Scale: int32(scale)}, nil
}
