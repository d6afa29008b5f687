// SPDX-License-Identifier: Apache-2.0

// Package errtext makes the texts of the driver's errors.
package errtext

import (
	"fmt"
	"strings"
	"time"
)

// Prefix begins the text of each error of the driver, once.
const Prefix = "vecql: "

// Errorf is fmt.Errorf with Prefix. It removes Prefix from the texts of the errors in args.
func Errorf(format string, args ...any) error {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = unprefixed{err}
		}
	}
	return fmt.Errorf(Prefix+format, args...)
}

// Of returns the text of an error without Prefix.
func Of(err error) string { return strings.TrimPrefix(err.Error(), Prefix) }

// unprefixed is an error without the prefix of its text.
type unprefixed struct{ err error }

func (e unprefixed) Error() string { return Of(e.err) }
func (e unprefixed) Unwrap() error { return e.err }

// Join returns the errors that are not nil as one error with a text of one line. nil means that there is none.
func Join(errs ...error) error {
	var all joined
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return all
}

type joined []error

func (e joined) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = Of(err)
	}
	return Prefix + strings.Join(texts, "; ")
}

// Unwrap returns all errors.
func (e joined) Unwrap() []error { return e }

// Round returns d with about three digits.
func Round(d time.Duration) time.Duration {
	unit := time.Nanosecond
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
