// SPDX-License-Identifier: Apache-2.0

package adbcvecql

import (
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
	cfg, err := clusteruri.Config(func(setting string) string {
		if setting == clusteruri.Keyspace {
			return keyspace
		}
		return o.get(optionOf(setting))
	})
	if err != nil {
		return nil, failed(adbc.StatusInvalidArgument, "the options of the cluster: %v", err)
	}
	cfg.Protocol.ApplicationInfo = vecql.ApplicationInfo{ApplicationName: "adbcvecql"}
	return cfg, nil
}
