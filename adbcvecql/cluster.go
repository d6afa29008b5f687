// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
	"errors"
	"maps"
	"slices"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/clusteruri"
)

// The configuration of a session from the options of a database.

// optionNames are the options of settings that are not parameters of a URI.
var optionNames = map[string]string{
	clusteruri.Username: adbc.OptionKeyUsername, clusteruri.Password: adbc.OptionKeyPassword,
	clusteruri.Keyspace: adbc.OptionKeyCurrentDbSchema,
}

// optionOf returns the option of a setting.
func optionOf(setting string) string {
	if name := optionNames[setting]; name != "" {
		return name
	}
	return optionPrefix + setting
}

// applyURI sets the options that a URI has. Options that were set already win.
func applyURI(o *optionSet, text string) error {
	found, err := clusteruri.Parse(text)
	if err != nil {
		return failed(adbc.StatusInvalidArgument, "%v", err)
	}
	for setting, value := range found {
		key := optionOf(setting)
		if _, ok := options[key]; !ok {
			return failed(adbc.StatusInvalidArgument, "unknown parameter %q of the uri", setting)
		}
		if _, set := o.values[key]; set {
			continue
		}
		if err := o.SetOption(key, value); err != nil {
			return err
		}
	}
	return nil
}

// clusterConfig returns the configuration of a session with a keyspace.
func clusterConfig(o *optionSet, keyspace string) (*vecql.ClusterConfig, error) {
	if o.get(optionContactPoints) == "" {
		return nil, failed(adbc.StatusInvalidArgument, "no contact points: set the option uri or %s", optionContactPoints)
	}
	settings := map[string]string{clusteruri.Keyspace: keyspace}
	names := slices.Collect(maps.Keys(clusteruri.Parameters()))
	for _, name := range append(names, clusteruri.Username, clusteruri.Password) {
		settings[name] = o.get(optionOf(name))
	}
	cfg, err := vecql.ParseURI(clusteruri.Format(settings))
	var fault *vecql.URIError
	if errors.As(err, &fault) {
		return nil, failed(adbc.StatusInvalidArgument, "the option %s: %v", optionOf(fault.Setting), fault.Err)
	}
	cfg.Protocol.ApplicationInfo = vecql.ApplicationInfo{ApplicationName: "adbcvecql"}
	return cfg, nil
}
