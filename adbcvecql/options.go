// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql/internal/clusteruri"
)

// Options of databases, connections and statements.

// optionPrefix begins the options of this driver, and of the settings that are parameters of a URI too.
const optionPrefix = "vecql."

// The names of the options of this driver. The options of databases are in package clusteruri.
const (
	optionContactPoints = optionPrefix + clusteruri.ContactPoints
	optionPageBytes     = "vecql.page_bytes"
	optionWorkers       = "vecql.workers"
	optionPartitions    = "vecql.partitions"
	optionUUID          = "vecql.uuid"
	optionDecimal       = "vecql.decimal"
	optionVarint        = "vecql.varint"
	optionDuration      = "vecql.duration"
	optionPrimaryKey    = "vecql.ingest.primary_key"
	optionBindByName    = "adbc.statement.bind_by_name" // of ADBC 1.1; its Go package lacks the name
	optionSearch        = "vecql.search"
	optionSearchK       = "vecql.search.k"
	optionSearchFilter  = "vecql.search.filter"
	optionSearchColumns = "vecql.search.columns"
	optionSearchScore   = "vecql.search.min_score"
	optionSearchMetric  = "vecql.search.metric"
	optionSearchExact   = "vecql.search.exact"
)

// A scope is a set of the objects that have an option.
type scope uint8

const (
	ofDatabase scope = 1 << iota
	ofConnection
	ofStatement
	ofAll = ofDatabase | ofConnection | ofStatement
)

// An option is the definition of one option. check returns an error for an invalid value; nil accepts all.
type option struct {
	scope    scope
	fallback string
	check    func(value string) error
}

var options = withCluster(map[string]option{
	adbc.OptionKeyURI:      {ofDatabase, "", nil},
	adbc.OptionKeyUsername: {ofDatabase, "", nil},
	adbc.OptionKeyPassword: {ofDatabase, "", nil},

	adbc.OptionKeyCurrentDbSchema: {ofDatabase | ofConnection, "", nil},
	adbc.OptionKeyCurrentCatalog:  {ofConnection, "", clusteruri.OneOf("")},
	adbc.OptionKeyAutoCommit:      {ofConnection, "true", isAutocommit},
	adbc.OptionKeyReadOnly:        {ofConnection, "false", clusteruri.OneOf("false")},
	adbc.OptionKeyIsolationLevel: {
		ofConnection, string(adbc.LevelDefault), clusteruri.OneOf(string(adbc.LevelDefault)),
	},

	optionPageBytes:  {ofAll, "1048576", isCount},
	optionWorkers:    {ofAll, "8", isCount},
	optionPartitions: {ofAll, "32", isCount},
	optionUUID:       {ofAll, "extension", clusteruri.OneOf("extension", "string")},
	optionDecimal:    {ofAll, "string", isDecimal},
	optionVarint:     {ofAll, "string", clusteruri.OneOf("string", "decimal256")},
	optionDuration:   {ofAll, "interval", clusteruri.OneOf("interval", "string")},
	optionPrimaryKey: {ofAll, "", nil},

	optionBindByName:    {ofStatement, "false", clusteruri.OneOf("true", "false")},
	optionSearch:        {ofStatement, "", nil},
	optionSearchK:       {ofStatement, "10", isCount},
	optionSearchFilter:  {ofStatement, "", nil},
	optionSearchColumns: {ofStatement, "", nil},
	optionSearchScore:   {ofStatement, "", isScore},
	optionSearchMetric:  {ofStatement, "", clusteruri.OneOf("", "cosine", "l2", "dot")},
	optionSearchExact:   {ofStatement, "false", clusteruri.OneOf("true", "false")},

	adbc.OptionKeyIngestTargetTable: {ofStatement, "", nil},
	adbc.OptionKeyIngestMode: {ofStatement, adbc.OptionValueIngestModeCreate, clusteruri.OneOf(
		adbc.OptionValueIngestModeCreate, adbc.OptionValueIngestModeAppend, adbc.OptionValueIngestModeReplace,
		adbc.OptionValueIngestModeCreateAppend)},
	adbc.OptionValueIngestTargetCatalog:  {ofStatement, "", clusteruri.OneOf("")},
	adbc.OptionValueIngestTargetDBSchema: {ofStatement, "", nil},
	adbc.OptionValueIngestTemporary:      {ofStatement, "false", clusteruri.OneOf("false")},
	adbc.OptionKeyIncremental:            {ofStatement, "false", clusteruri.OneOf("false")},
})

// withCluster adds the settings of a cluster to the options.
func withCluster(m map[string]option) map[string]option {
	for name, s := range clusteruri.Parameters() {
		m[optionPrefix+name] = option{ofDatabase, s.Default, s.Check}
	}
	return m
}

// isAutocommit refuses transactions with the status that ADBC has for them.
func isAutocommit(value string) error {
	if value == adbc.OptionValueDisabled {
		return failed(adbc.StatusNotImplemented, "CQL has no transactions: autocommit cannot be disabled")
	}
	return clusteruri.OneOf(adbc.OptionValueEnabled)(value)
}

func isCount(value string) error {
	if n, err := strconv.Atoi(value); err != nil || n < 1 {
		return fmt.Errorf("want a number of at least 1")
	}
	return nil
}

func isScore(value string) error {
	if f, err := strconv.ParseFloat(value, 32); value != "" && (err != nil || f != f) {
		return fmt.Errorf("want a number, or nothing for no bound")
	}
	return nil
}

func isDecimal(value string) error {
	_, err := decimalScale(value)
	return err
}

// decimalScale returns the scale of a value of optionDecimal, -1 for text.
func decimalScale(value string) (int, error) {
	if value == "string" {
		return -1, nil
	}
	text, ok := strings.CutPrefix(value, "decimal256(76,")
	text, end := strings.CutSuffix(text, ")")
	scale, err := strconv.Atoi(strings.TrimSpace(text))
	if !ok || !end || err != nil || scale < 0 || scale > decimalDigits {
		return 0, fmt.Errorf("want string or decimal256(76,S) with S from 0 to 76")
	}
	return scale, nil
}

// optionSet holds the options of an object. It implements adbc.GetSetOptions.
type optionSet struct {
	scope  scope
	values map[string]string // that were set
}

// inherit returns the options of an object that is made from the one of o.
func (o *optionSet) inherit(s scope) optionSet {
	child := optionSet{scope: s, values: maps.Clone(o.values)}
	maps.DeleteFunc(child.values, func(key, _ string) bool { return options[key].scope&s == 0 })
	return child
}

// SetOption implements adbc.PostInitOptions.
func (o *optionSet) SetOption(key, value string) error {
	def, ok := options[key]
	if !ok || def.scope&o.scope == 0 {
		return failed(adbc.StatusNotImplemented, "unknown option %q", key)
	}
	if def.check != nil {
		if err := def.check(value); err != nil {
			var done adbc.Error
			if errors.As(err, &done) {
				return done
			}
			return failed(adbc.StatusInvalidArgument, "option %s is %q: %s", key, value, unprefixed(err))
		}
	}
	o.values[key] = value
	return nil
}

// get returns the value of an option that the object has.
func (o *optionSet) get(key string) string {
	if value, ok := o.values[key]; ok {
		return value
	}
	return options[key].fallback
}

// count returns the value of an option that isCount checks.
func (o *optionSet) count(key string) int {
	n, _ := strconv.Atoi(o.get(key))
	return n
}

// GetOption implements adbc.GetSetOptions. Passwords cannot be read.
func (o *optionSet) GetOption(key string) (string, error) {
	def, ok := options[key]
	if !ok || def.scope&o.scope == 0 || key == adbc.OptionKeyPassword {
		return "", failed(adbc.StatusNotFound, "no option %q", key)
	}
	return o.get(key), nil
}

// GetOptionBytes implements adbc.GetSetOptions.
func (o *optionSet) GetOptionBytes(key string) ([]byte, error) {
	return nil, failed(adbc.StatusNotFound, "no option %q of bytes", key)
}

// GetOptionInt implements adbc.GetSetOptions.
func (o *optionSet) GetOptionInt(key string) (int64, error) {
	value, err := o.GetOption(key)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, failed(adbc.StatusNotFound, "option %s is not an integer: %q", key, value)
	}
	return n, nil
}

// GetOptionDouble implements adbc.GetSetOptions.
func (o *optionSet) GetOptionDouble(key string) (float64, error) {
	n, err := o.GetOptionInt(key)
	return float64(n), err
}

// SetOptionBytes implements adbc.GetSetOptions.
func (o *optionSet) SetOptionBytes(key string, _ []byte) error {
	return failed(adbc.StatusNotImplemented, "no option %q of bytes", key)
}

// SetOptionInt implements adbc.GetSetOptions.
func (o *optionSet) SetOptionInt(key string, value int64) error {
	return o.SetOption(key, strconv.FormatInt(value, 10))
}

// SetOptionDouble implements adbc.GetSetOptions.
func (o *optionSet) SetOptionDouble(key string, value float64) error {
	return o.SetOption(key, strconv.FormatFloat(value, 'f', -1, 64))
}
