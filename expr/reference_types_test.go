// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The reference for times, vectors and casts.

// referenceTime returns a date or timestamp as a time.
func referenceTime(v *big.Int, t column.Type) time.Time {
	if t.Kind == column.Date {
		return time.Unix(v.Int64()*86400, 0).UTC()
	}
	per := big.NewInt(t.Unit.PerSecond())
	s, rest := new(big.Int).DivMod(v, per, new(big.Int))
	return time.Unix(s.Int64(), rest.Int64()*(1e9/t.Unit.PerSecond())).UTC()
}

// unitsOf returns a time in the units of a date or timestamp, rounded down.
func unitsOf(v time.Time, t column.Type) *big.Int {
	if t.Kind == column.Date {
		return new(big.Int).Div(big.NewInt(v.Unix()), big.NewInt(86400))
	}
	units := new(big.Int).Mul(big.NewInt(v.Unix()), big.NewInt(t.Unit.PerSecond()))
	return units.Add(units, big.NewInt(int64(v.Nanosecond())/(1e9/t.Unit.PerSecond())))
}

func referenceTimePart(t *term, args []any) (any, error) {
	at := referenceTime(args[1].(*big.Int), t.args[1].typ)
	if t.op == "extract" && args[0] == "epoch" {
		return big.NewInt(at.Unix()), nil
	}
	if len(args) == 3 {
		zone, err := time.LoadLocation(args[2].(string))
		if err != nil {
			return nil, err
		}
		at = at.In(zone)
	}
	if t.op == "extract" {
		isoYear, week := at.ISOWeek()
		return big.NewInt(int64(map[string]int{
			"millisecond": at.Second()*1000 + at.Nanosecond()/1e6, "microsecond": at.Second()*1e6 + at.Nanosecond()/1e3,
			"decade": at.Year() / 10, "century": (at.Year() + 99) / 100, "millennium": (at.Year() + 999) / 1000,
			"isodow": int(at.Weekday()+6)%7 + 1, "isoyear": isoYear, "second": at.Second(), "minute": at.Minute(), "hour": at.Hour(), "day": at.Day(),
			"week": week, "month": int(at.Month()), "quarter": (int(at.Month())-1)/3 + 1, "year": at.Year(),
			"dow": int(at.Weekday()), "doy": at.YearDay(),
		}[args[0].(string)])), nil
	}
	y, m, d := at.Date()
	switch args[0] {
	case "millennium":
		at = firstOfDay(y-y%1000, 1, 1, at.Location())
	case "century":
		at = firstOfDay(y-y%100, 1, 1, at.Location())
	case "decade":
		at = firstOfDay(y-y%10, 1, 1, at.Location())
	case "year":
		at = firstOfDay(y, 1, 1, at.Location())
	case "quarter":
		at = firstOfDay(y, (m-1)/3*3+1, 1, at.Location())
	case "month":
		at = firstOfDay(y, m, 1, at.Location())
	case "week":
		for at.Weekday() != time.Monday {
			d--
			at = time.Date(y, m, d, 12, 0, 0, 0, at.Location())
		}
		at = firstOfDay(y, m, d, at.Location())
	case "day":
		at = firstOfDay(y, m, d, at.Location())
	default:
		unit := map[string]time.Duration{
			"hour": time.Hour, "minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond,
			"microsecond": time.Microsecond,
		}[args[0].(string)]
		clock := time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
		at = at.Add(-(clock % unit))
	}
	return within(unitsOf(at, t.typ), t.typ, ErrOverflow)
}

// firstOfDay returns the first instant of a day: it goes from the evening before to the first minute of the day or of a
// later one, then back by seconds.
func firstOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	reached := func(t time.Time) bool {
		ty, tm, td := t.Date()
		return !time.Date(ty, tm, td, 0, 0, 0, 0, time.UTC).Before(time.Date(y, m, d, 0, 0, 0, 0, time.UTC))
	}
	t := time.Date(y, m, d-1, 21, 0, 0, 0, zone)
	if zone == time.UTC {
		return t.Add(3 * time.Hour)
	}
	for !reached(t) {
		t = t.Add(time.Minute)
	}
	for reached(t.Add(-time.Second)) {
		t = t.Add(-time.Second)
	}
	return t
}

func referenceInterval(t *term, v *big.Int, d cql.Duration) (any, error) {
	sign := int64(1)
	if t.op == opSub {
		sign = -1
	}
	if d.Months != 0 || d.Days != 0 {
		at := referenceTime(v, t.typ)
		y, m, day := at.Date()
		months := int64(m) - 1 + sign*int64(d.Months)
		first := time.Date(y+int(math.Floor(float64(months)/12)), time.Month(((months%12)+12)%12+1), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		days := big.NewInt(first.Unix()/86400 + int64(min(day, last)) - 1 + sign*int64(d.Days))
		perDay := big.NewInt(1)
		if t.typ.Kind == column.Timestamp {
			perDay.SetInt64(86400 * t.typ.Unit.PerSecond())
		}
		v = days.Add(days.Mul(days, perDay), new(big.Int).Mod(v, perDay))
		if _, err := within(v, t.typ, ErrOverflow); err != nil {
			return nil, err
		}
	}
	if t.typ.Kind == column.Timestamp {
		nanos := new(big.Int).Mul(big.NewInt(sign), big.NewInt(d.Nanoseconds))
		v = new(big.Int).Add(v, nanos.Div(nanos, big.NewInt(1e9/t.typ.Unit.PerSecond())))
	}
	return within(v, t.typ, ErrOverflow)
}

func referenceVector(t *term, args []any) (any, error) {
	x := args[0].([]float64)
	sum := func(of func(i int) float64) float64 {
		var sums [4]float64
		for i := range x {
			sums[i%4] += of(i)
		}
		return (sums[0] + sums[1]) + (sums[2] + sums[3])
	}
	norm := func(v []float64) float64 {
		return math.Sqrt(sum(func(i int) float64 { return float64(v[i] * v[i]) }))
	}
	switch t.op {
	case "norm":
		return norm(x), nil
	case "slice":
		from, count := args[1].(int64)-1, args[2].(int64)
		return x[from : from+count], nil
	case "element":
		v := x[args[1].(int64)-1]
		if classOf(t.typ) == classInt {
			return big.NewInt(int64(v)), nil
		}
		return v, nil
	}
	y := args[1].([]float64)
	if len(x) != len(y) {
		return nil, ErrCast
	}
	switch t.op {
	case "dot":
		return sum(func(i int) float64 { return float64(x[i] * y[i]) }), nil
	case "l2":
		return math.Sqrt(sum(func(i int) float64 { return float64((x[i] - y[i]) * (x[i] - y[i])) })), nil
	}
	dot := sum(func(i int) float64 { return float64(x[i] * y[i]) })
	if t.args[0].op == opLiteral {
		x, y = y, x
	}
	return dot / norm(x) / norm(y), nil
}

func referenceCast(t *term, v any) (any, error) {
	from, to := t.args[0].typ, t.typ
	if from == to {
		return v, nil
	}
	if truth, ok := v.(bool); ok && to.Kind != column.String {
		v = big.NewInt(int64(bit(truth)))
	}
	if classOf(to).isDecimal() || classOf(from).isDecimal() || isBig(from) {
		return referenceCastDecimal(from, to, v)
	}
	switch classOf(to) {
	case classBool:
		return referenceCastBool(v)
	case classText:
		return referenceCastText(from, v), nil
	case classDate, classTimestamp:
		if s, ok := v.(string); ok {
			at, err := parseTime(s)
			exact := at.Nanosecond()%int(1e9/max(1, to.Unit.PerSecond())) == 0
			if err != nil || to.Kind == column.Date && len(s) != 10 || to.Kind == column.Timestamp && !exact {
				return nil, ErrCast
			}
			return within(unitsOf(at, to), to, ErrOverflow)
		}
		return within(unitsOf(referenceTime(v.(*big.Int), from), to), to, ErrOverflow)
	case classFloat:
		return referenceCastFloat(from, to, v)
	}
	switch x := v.(type) {
	case string:
		i, ok := new(big.Int).SetString(x, 10)
		if !ok || isUnsigned(to.Kind) && classOf(to) == classUint && strings.ContainsAny(x, "+-") {
			return nil, ErrCast
		}
		return within(i, to, ErrCast)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, ErrCast
		}
		i, _ := big.NewFloat(math.RoundToEven(x)).Int(nil)
		return within(i, to, ErrCast)
	}
	return within(v.(*big.Int), to, ErrCast)
}

func referenceCastBool(v any) (any, error) {
	switch x := v.(type) {
	case *big.Int:
		return x.Sign() != 0, nil
	case float64:
		return x != 0, nil
	case string:
		switch strings.ToLower(x) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	return nil, ErrCast
}

func referenceCastFloat(from, to column.Type, v any) (any, error) {
	f := 0.0
	switch x := v.(type) {
	case string:
		var err error
		if f, err = strconv.ParseFloat(x, 8*to.ValueWidth()); err != nil || strings.ContainsAny(x, "_xX") {
			return nil, ErrCast
		}
	case float64:
		f = x
	case *big.Int:
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(from.Scale)), nil)
		f, _ = new(big.Rat).SetFrac(x, scale).Float64()
	}
	if to.Kind == column.Float32 {
		if narrow := float64(float32(f)); math.IsInf(narrow, 0) && !math.IsInf(f, 0) {
			return nil, ErrCast
		}
		f = float64(float32(f))
	}
	return f, nil
}

func referenceCastText(from column.Type, v any) string {
	switch x := v.(type) {
	case bool:
		return strconv.FormatBool(x)
	case float64:
		if from.Kind == column.Float64 {
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
		return strconv.FormatFloat(x, 'g', -1, 32)
	case string: // a UUID
		id := cql.UUID([]byte(x))
		return id.String()
	}
	at := v.(*big.Int)
	switch {
	case from.Kind == column.Date:
		day := referenceTime(at, from)
		text := day.Format("-01-02")
		switch year := day.Year(); {
		case year > 9999:
			return fmt.Sprintf("+%d%s", year, text)
		case year < 0:
			return fmt.Sprintf("-%04d%s", -year, text)
		default:
			return fmt.Sprintf("%04d%s", year, text)
		}
	case from.Kind == column.Timestamp && from.UTC:
		return referenceTime(at, from).Format("2006-01-02T15:04:05.999999999") + "Z"
	case from.Kind == column.Timestamp:
		return referenceTime(at, from).Format("2006-01-02T15:04:05.999999999")
	}
	return at.String()
}

// referenceFormat formats a time as strftime does, one specifier after the other.
func referenceFormat(at time.Time, format string) string {
	isoYear, week := at.ISOWeek()
	weekday := int(at.Weekday())
	hour := (at.Hour()+11)%12 + 1
	yearWeek := func(first int) int { // the first such weekday of the year begins week 1
		n := 0
		for d := range at.YearDay() {
			if int(time.Date(at.Year(), 1, 1+d, 0, 0, 0, 0, time.UTC).Weekday()) == first {
				n++
			}
		}
		return n
	}
	year := func(n int) string { // as DuckDB has it
		if n < 0 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%04d", n)
	}
	last := at.Year() % 100
	if last < 0 {
		last = -last
	}
	of := map[string]string{
		"%": "%", "a": at.Weekday().String()[:3], "A": at.Weekday().String(), "b": at.Month().String()[:3], "B": at.Month().String(),
		"d": fmt.Sprintf("%02d", at.Day()), "-d": fmt.Sprint(at.Day()), "m": fmt.Sprintf("%02d", int(at.Month())),
		"-m": fmt.Sprint(int(at.Month())), "Y": year(at.Year()), "y": fmt.Sprintf("%02d", last),
		"H": fmt.Sprintf("%02d", at.Hour()), "-H": fmt.Sprint(at.Hour()), "I": fmt.Sprintf("%02d", hour), "-I": fmt.Sprint(hour),
		"p": []string{"AM", "PM"}[at.Hour()/12], "M": fmt.Sprintf("%02d", at.Minute()), "-M": fmt.Sprint(at.Minute()),
		"S": fmt.Sprintf("%02d", at.Second()), "-S": fmt.Sprint(at.Second()), "f": fmt.Sprintf("%06d", at.Nanosecond()/1000),
		"g": fmt.Sprintf("%03d", at.Nanosecond()/1e6), "n": fmt.Sprintf("%09d", at.Nanosecond()), "j": fmt.Sprintf("%03d", at.YearDay()),
		"-j": fmt.Sprint(at.YearDay()), "w": fmt.Sprint(weekday), "u": fmt.Sprint((weekday+6)%7 + 1), "V": fmt.Sprintf("%02d", week),
		"G": year(isoYear), "U": fmt.Sprintf("%02d", yearWeek(0)), "W": fmt.Sprintf("%02d", yearWeek(1)),
		"-y": fmt.Sprint(last), "F": year(at.Year()) + at.Format("-01-02"), "T": at.Format(time.TimeOnly), "z": "+00", "Z": "UTC",
	}
	parts := strings.Split(format, "%")
	text := parts[0]
	for i := 1; i < len(parts); i++ {
		name := parts[i]
		switch {
		case name == "": // two percent signs
			i++
			text += "%" + parts[i]
			continue
		case name[0] == '-':
			name = name[:2]
		default:
			name = name[:1]
		}
		text += of[name] + parts[i][len(name):]
	}
	return text
}

// referenceBucket goes from the origin of buckets to the one of a time.
func referenceBucket(t *term, v *big.Int, d cql.Duration) (any, error) {
	if d.Months > 0 {
		at := referenceTime(v, t.typ)
		months := at.Year()*12 + int(at.Month()) - 1
		for months%int(d.Months) != 24000%int(d.Months) {
			months--
		}
		return within(unitsOf(time.Date(0, time.Month(months+1), 1, 0, 0, 0, 0, time.UTC), t.typ), t.typ, ErrOverflow)
	}
	perSecond := big.NewInt(1)
	if t.typ.Kind == column.Timestamp {
		perSecond.SetInt64(t.typ.Unit.PerSecond())
	}
	origin := unitsOf(time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC), t.typ)
	width := big.NewInt(int64(d.Days))
	if t.typ.Kind == column.Timestamp {
		width.Mul(width, big.NewInt(86400)).Mul(width, perSecond)
		width.Add(width, big.NewInt(d.Nanoseconds/(1e9/t.typ.Unit.PerSecond())))
	}
	rest := new(big.Int).Mod(new(big.Int).Sub(v, origin), width)
	return within(rest.Sub(v, rest), t.typ, ErrOverflow)
}
