// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/textform"
)

// Literals of dates, timestamps and times of day, each with the type that it has without context.

// A moment is the value of a literal date or timestamp. Beside a column the literal has the column's type.
type moment struct {
	at  time.Time // in UTC
	typ column.Type
}

// A timeOfDay is the value of a literal time: nanoseconds since midnight.
type timeOfDay int64

// typ returns the type without context: microseconds, or nanoseconds if the time has some.
func (v timeOfDay) typ() column.Type { return column.Type{Kind: column.Time, Unit: unitOf(int64(v))} }

// unitOf returns the unit that has a number of nanoseconds: microseconds or nanoseconds.
func unitOf(nanoseconds int64) column.Unit {
	if nanoseconds%1000 != 0 {
		return column.Nanos
	}
	return column.Micros
}

// timestampAt returns the literal of an instant.
func timestampAt(at time.Time, utc bool) (moment, error) {
	typ := column.Type{Kind: column.Timestamp, Unit: unitOf(int64(at.Nanosecond())), UTC: utc}
	return moment{at.UTC().Round(0), typ}.checked()
}

// checked returns an error for a year that the text of a literal cannot have.
func (m moment) checked() (moment, error) {
	if y := m.at.Year(); y < 0 || y > 9999 {
		return m, fmt.Errorf("time literal with year %d, want 0 to 9999", y)
	}
	return m, nil
}

// Layouts of literals in text. A timestamp in UTC has a zone.
const (
	dateLayout  = "2006-01-02"
	localLayout = "2006-01-02T15:04:05.999999999"
	timeLayout  = localLayout + "Z07:00"
	clockLayout = "15:04:05.999999999"
)

// text returns the literal as text.
func (m moment) text() string {
	switch {
	case m.typ.Kind == column.Date:
		return "date " + quote(m.at.Format(dateLayout))
	case m.typ.UTC:
		return "timestamp " + quote(m.at.Format(timeLayout))
	}
	return "timestamp " + quote(m.at.Format(localLayout))
}

func (v timeOfDay) text() string {
	return "time " + quote(time.Unix(0, int64(v)).UTC().Format(clockLayout))
}

// parseDate parses the text of a date literal.
func parseDate(s string) (moment, error) {
	days, err := textform.ParseDate(s)
	if err != nil {
		return moment{}, fmt.Errorf("%q is not a date such as 2006-01-02", s)
	}
	return moment{time.Unix(86400*int64(days), 0).UTC(), column.Type{Kind: column.Date}}.checked()
}

// parseTimestamp parses the text of a timestamp literal, which is in UTC if it has a zone.
func parseTimestamp(s string) (moment, error) {
	at, zoned, err := parseZoned(s)
	if err != nil {
		return moment{}, err
	}
	return timestampAt(at, zoned)
}

// parseTime parses a date, or a date and a time, with an optional zone; without one it is in UTC.
func parseTime(s string) (time.Time, error) {
	at, _, err := parseZoned(s)
	return at, err
}

// parseZoned is parseTime. It reports whether the text has a zone: the instant of a text without one depends on the
// location.
func parseZoned(s string) (at time.Time, zoned bool, err error) {
	seconds, nanos, err := textform.ParseTimestamp(s, time.UTC)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("%q is not a time such as 2006-01-02T15:04:05Z", s)
	}
	elsewhere, _, err := textform.ParseTimestamp(s, time.FixedZone("", 3600))
	return time.Unix(seconds, nanos).UTC(), err == nil && elsewhere == seconds, nil
}

// parseClock parses a time of day.
func parseClock(s string) (timeOfDay, error) {
	nanos, err := textform.ParseTime(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of day such as 12:30", s)
	}
	return timeOfDay(nanos), nil
}

// shifted returns the moment plus an interval, sign times. A date and hours are a timestamp.
func (m moment) shifted(t *term, sign int64) (moment, error) {
	d := intervalOf(t)
	switch {
	case d.Nanoseconds%1000 != 0:
		m.typ = column.Type{Kind: column.Timestamp, Unit: column.Nanos, UTC: m.typ.UTC}
	case d.Nanoseconds != 0 && m.typ.Kind == column.Date:
		m.typ = column.Type{Kind: column.Timestamp, Unit: column.Micros}
	}
	clock := clockOf(m.typ)
	v, err := clock.value(m.at)
	if err == nil {
		v, err = clock.add(d, sign)(v)
	}
	if err != nil {
		return m, err
	}
	m.at = clock.time(v)
	return m.checked()
}
