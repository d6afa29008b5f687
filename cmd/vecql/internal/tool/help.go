// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Flags in the help of a verb: in groups, and in lines of 80 characters.

// flagGroup is the annotation of a flag with the title of its group.
const flagGroup = "group"

// The groups of flags after the flags of the verb itself.
const (
	fileGroup    = "Flags of files"
	clusterGroup = "Flags of the cluster"
)

// addGroup adds flags to a verb under the title of a group.
func addGroup(c *cobra.Command, set *pflag.FlagSet, title string) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[flagGroup] = []string{title}
	})
	c.Flags().AddFlagSet(set)
}

// A groupUsage is a title and the lines of its flags.
type groupUsage struct{ Title, Flags string }

// flagGroups returns the groups of the flags of a command.
func flagGroups(c *cobra.Command) []groupUsage {
	sets := map[string]*pflag.FlagSet{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := "Flags"
		if group := f.Annotations[flagGroup]; len(group) > 0 {
			title = group[0]
		}
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
		}
		sets[title].AddFlag(f)
	})
	var groups []groupUsage
	for _, title := range []string{"Flags", fileGroup, clusterGroup} {
		if set := sets[title]; set != nil {
			groups = append(groups, groupUsage{title, strings.TrimRight(set.FlagUsagesWrapped(80), " \n")})
		}
	}
	return groups
}

// init adds the function of the template to cobra, which keeps all functions in one map without a lock.
func init() { cobra.AddTemplateFunc("flagGroups", flagGroups) }

// usageTemplate returns cobra's template of usages with the flags in groups.
func usageTemplate(usual string) string {
	const flags = `{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}`
	return strings.Replace(usual, flags, `{{range flagGroups .}}

{{.Title}}:
{{.Flags}}{{end}}`, 1)
}
