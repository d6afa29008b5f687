// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vecql/vecql/internal/clusteruri"
)

// Where the values of cluster flags come from: the command line, then the environment, then a profile; in each of them
// a flag, then a URI. A profile is a table of a TOML file whose keys are the names of the flags:
//
//	[production]
//	hosts = ["10.0.0.1", "10.0.0.2"]
//	data-center = "dc1"

// defaultProfile is the profile that applies when none is named.
const defaultProfile = "default"

// defaultConfigFile returns the path of the configuration file, "" if the user has no folder for it.
func defaultConfigFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "vecql", "config.toml")
}

// variable returns the name of the variable of the environment that stands for a flag.
func variable(flag string) string {
	return "VECQL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// resolve sets the flags that the command line does not have from the environment, else from the profile.
func (f *clusterFlags) resolve(getenv func(string) string) error {
	for _, name := range []string{flagConfig, flagProfile} { // they select the profile
		if err := setFromEnvironment(f.set.Lookup(name), getenv); err != nil {
			return err
		}
	}
	profile, err := f.readProfile()
	if err != nil {
		return err
	}
	errs := []error{f.applyURI()}
	f.set.VisitAll(func(flag *pflag.Flag) { errs = append(errs, setFromEnvironment(flag, getenv)) })
	errs = append(errs, f.applyURI())
	f.set.VisitAll(func(flag *pflag.Flag) {
		if value, ok := profile[flag.Name]; ok && !flag.Changed {
			if err := setFlag(flag, value); err != nil {
				errs = append(errs, fmt.Errorf("%s, profile %s: %w", f.configFile, f.profile, err))
			}
		}
	})
	return errors.Join(append(errs, f.applyURI())...)
}

// uriFlags are the flags of the settings of a URI that have another name.
var uriFlags = map[string]string{
	clusteruri.ContactPoints: "hosts", clusteruri.Username: "user", "data_center": "data-center",
	"connect_timeout": "connect-timeout", "compression": "wire-compression",
	"tls.ca": "ca", "tls.cert": "cert", "tls.key": "key", "tls.server_name": "server-name",
}

// applyURI sets the flags that are not set from the URI, if there is one, and drops the URI. Errors leave out the URI,
// which may have a password.
func (f *clusterFlags) applyURI() error {
	if f.uri == "" {
		return nil
	}
	settings, err := clusteruri.Parse(f.uri)
	f.uri = ""
	if err == nil {
		err = clusteruri.Check(settings)
	}
	if err != nil {
		return usagef("--%s: %w", flagURI, err)
	}
	if settings["tls.verify"] == "false" {
		settings["insecure"] = "true"
	}
	delete(settings, "tls.verify")
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		flag := f.set.Lookup(cmp.Or(uriFlags[name], name))
		if flag.Changed {
			continue
		}
		if err := setFlag(flag, settings[name]); err != nil {
			return usagef("--%s: %w", flagURI, err)
		}
	}
	return nil
}

// setFromEnvironment sets a flag that the command line does not have if its variable is set.
func setFromEnvironment(flag *pflag.Flag, getenv func(string) string) error {
	name := variable(flag.Name)
	value := getenv(name)
	if flag.Changed || value == "" {
		return nil
	}
	if err := setFlag(flag, value); err != nil {
		return usagef("%s: %w", name, err)
	}
	return nil
}

// setFlag sets a flag as the command line does.
func setFlag(flag *pflag.Flag, value string) error {
	if err := flag.Value.Set(value); err != nil {
		return fmt.Errorf("%s is %q: %w", flag.Name, value, err)
	}
	flag.Changed = true
	return nil
}

// readProfile returns the settings of the profile as text. The default profile may be missing.
func (f *clusterFlags) readProfile() (map[string]string, error) {
	named := f.profile != ""
	if !named {
		f.profile = defaultProfile
	}
	profiles, err := f.readConfig()
	if err != nil {
		return nil, err
	}
	profile, ok := profiles[f.profile]
	if !ok {
		if !named {
			return nil, nil
		}
		if len(profiles) == 0 {
			return nil, fmt.Errorf("there is no profile %q, because %s does not exist or is empty", f.profile, f.configFile)
		}
		return nil, fmt.Errorf("%s has no profile %q; its profiles are: %s", f.configFile, f.profile,
			strings.Join(slices.Sorted(maps.Keys(profiles)), ", "))
	}
	settings := map[string]string{}
	for key, value := range profile {
		if f.set.Lookup(key) == nil || slices.Contains([]string{flagProfile, flagConfig, flagVerbose}, key) {
			return nil, fmt.Errorf("%s, profile %s: %q is no setting of a cluster", f.configFile, f.profile, key)
		}
		if list, ok := value.([]any); ok {
			texts := make([]string, len(list))
			for i := range list {
				texts[i] = fmt.Sprint(list[i])
			}
			value = strings.Join(texts, ",")
		}
		settings[key] = fmt.Sprint(value)
	}
	return settings, nil
}

// readConfig returns all profiles of the configuration file. A file that is not named may be missing.
func (f *clusterFlags) readConfig() (map[string]map[string]any, error) {
	named := f.configFile != "" && f.configFile != defaultConfigFile()
	if !named {
		f.configFile = defaultConfigFile()
	}
	profiles := map[string]map[string]any{}
	_, err := toml.DecodeFile(f.configFile, &profiles)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return profiles, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, advise(fmt.Errorf("there is no configuration file %s", f.configFile),
			"--config or VECQL_CONFIG names it; without it the file is %s", defaultConfigFile())
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", f.configFile, err)
	}
	return profiles, nil
}

// completeProfiles completes the names of profiles.
func (e *env) completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	f := e.flags
	profiles, err := f.readConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(profiles)), cobra.ShellCompDirectiveNoFileComp
}
