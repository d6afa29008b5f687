// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
)

// The effective configuration as text, for logs. It has no secrets: of an Authenticator that is not a
// PasswordAuthenticator, and of other values of the program, it has the type only.

// A setting is a field of the configuration by its name, such as "Throttle.MaxRequests".
type setting struct{ name, value string }

// String returns the effective configuration, defaults included, without secrets. Each line is "Name: value".
func (c ClusterConfig) String() string {
	var b strings.Builder
	for _, s := range c.settings() {
		fmt.Fprintf(&b, "%s: %s\n", s.name, s.value)
	}
	return b.String()
}

// Format implements fmt.Formatter: every verb formats the text of String.
func (c ClusterConfig) Format(f fmt.State, verb rune) {
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), c.String())
}

// LogValue implements slog.LogValuer: a group with an attribute for each line of String.
func (c ClusterConfig) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, s := range c.settings() {
		attrs = append(attrs, slog.String(s.name, s.value))
	}
	return slog.GroupValue(attrs...)
}

// MarshalJSON implements json.Marshaler: an object with a string for each line of String.
func (c ClusterConfig) MarshalJSON() ([]byte, error) {
	object := map[string]string{}
	for _, s := range c.settings() {
		object[s.name] = s.value
	}
	return json.Marshal(object)
}

func (c ClusterConfig) settings() []setting {
	effective, _ := c.withDefaults() // an invalid configuration has a text too
	return appendSettings(nil, "", reflect.ValueOf(effective))
}

// appendSettings appends the fields of a struct of this package. The fields of a struct in it get its name as prefix.
func appendSettings(dst []setting, prefix string, v reflect.Value) []setting {
	for i, field := range reflect.VisibleFields(v.Type()) {
		name, value := prefix+field.Name, v.Field(i)
		profiles, isProfiles := value.Interface().(map[string]Profile)
		switch {
		case isProfiles:
			dst = appendProfiles(dst, name, profiles)
		case value.Kind() == reflect.Struct:
			dst = appendSettings(dst, name+".", value)
		default:
			dst = append(dst, setting{name, settingText(value.Interface())})
		}
	}
	return dst
}

// appendProfiles appends the fields that the profiles set.
func appendProfiles(dst []setting, name string, profiles map[string]Profile) []setting {
	if len(profiles) == 0 {
		return append(dst, setting{name, "none"})
	}
	for _, profile := range slices.Sorted(maps.Keys(profiles)) {
		v := reflect.ValueOf(profiles[profile])
		for i, field := range reflect.VisibleFields(v.Type()) {
			if !v.Field(i).IsZero() {
				dst = append(dst, setting{
					fmt.Sprintf("%s[%q].%s", name, profile, field.Name), settingText(v.Field(i).Interface()),
				})
			}
		}
	}
	return dst
}

// settingText returns the text of one field.
func settingText(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case *tls.Config:
		return tlsText(v)
	case []string:
		return settingText(strings.Join(v, ", "))
	case string:
		if v == "" {
			return "none"
		}
	case cql.Consistency:
		if v == 0 {
			return "none"
		}
	case PasswordAuthenticator, *PasswordAuthenticator:
		return fmt.Sprintf("%T%+v", v, v)
	}
	switch t := reflect.TypeOf(value); {
	case t.Kind() == reflect.Func && reflect.ValueOf(value).IsNil():
		return "none"
	case isBasic(t):
		return fmt.Sprint(value)
	case isPlain(t):
		return fmt.Sprintf("%T%+v", value, reflect.Indirect(reflect.ValueOf(value)))
	default:
		return t.String()
	}
}

// isBasic reports whether a type has neither fields nor references.
func isBasic(t reflect.Type) bool {
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		return isBasic(t.Elem())
	}
	return t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String
}

// isPlain reports whether t is a type of this package, or a pointer to one, whose fields are basic: a policy without
// values of the program.
func isPlain(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() != reflect.TypeFor[ClusterConfig]().PkgPath() {
		return false
	}
	return !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return !f.IsExported() || !isBasic(f.Type)
	})
}

// tlsText summarizes a TLS configuration.
func tlsText(c *tls.Config) string {
	if c == nil {
		return "none"
	}
	verify, roots, name := "true", "system", "of the node"
	if c.InsecureSkipVerify {
		verify = "false"
	}
	if c.RootCAs != nil {
		roots = "own"
	}
	if c.ServerName != "" {
		name = c.ServerName
	}
	version := "default"
	if c.MinVersion != 0 {
		version = tls.VersionName(c.MinVersion)
	}
	return fmt.Sprintf("verify=%s roots=%s name=%q client-certificates=%d min-version=%s",
		verify, roots, name, len(c.Certificates), version)
}
