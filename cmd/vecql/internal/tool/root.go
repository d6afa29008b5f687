// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The list of verbs, and what a command returns to the shell.

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitRejected    = 3   // done, but records were rejected that no file keeps
	exitInterrupted = 130 // 128 and the number of SIGINT, as shells have it
	exitPipe        = 141 // 128 and the number of SIGPIPE
)

// Main runs the tool with the arguments of the command line, without the name of the program. It returns the exit code:
// 0 for success, 1 for a failure, 2 for wrong arguments, 3 for rejected records that no file keeps, 130 after SIGINT or
// SIGTERM, 141 after the reader of the output has ended. A second signal ends the process.
func Main(args []string, in io.Reader, out, errOut io.Writer) (exitCode int) {
	// A write to a closed pipe is then an error of the command, which reports it and removes its files, and not the end
	// of the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, newEnv(in, out, errOut), args)
}

// run is Main in an env. It interrupts the command when ctx ends.
func run(ctx context.Context, e *env, args []string) (exitCode int) {
	started := false
	root := newRoot(e)
	for _, c := range root.Commands() {
		do := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			started = true
			return do(c, args)
		}
	}
	root.SetArgs(args)
	root.SetIn(e.in)
	root.SetOut(e.out)
	root.SetErr(e.err)
	c, err := root.ExecuteContextC(ctx)
	if err != nil && !started { // cobra refuses flags and arguments before it runs the command
		err = usageError{suggestFlag(c, err)}
	}
	output := e.raw.failure()
	if errors.Is(output, syscall.EPIPE) { // such as head, which has read enough: no error to report
		return exitPipe
	}
	if err == nil && output != nil {
		err = fmt.Errorf("write the output: %w", output)
	}
	return report(ctx, e.err, c.CommandPath(), err)
}

// newRoot returns the command vecql with all verbs.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "vecql",
		Short: "Tables of Cassandra and ScyllaDB: query, load, unload, describe, try",
		Long: `vecql works with tables of Apache Cassandra and ScyllaDB.

Flags, the environment (VECQL_HOSTS for --hosts) and profiles in a file name the
cluster: see vecql help query.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("vecql {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	e.completeClusterFlags()
	for _, g := range []struct {
		id, title string
		verbs     []*cobra.Command
	}{
		{"read", "Read:", []*cobra.Command{
			newQueryCommand(e), newSQLCommand(e), newAggCommand(e), newSearchCommand(e), newCountCommand(e),
			newDescribeCommand(e), newGenCommand(e), newMCPCommand(e),
		}},
		{"write", "Write and move:", []*cobra.Command{
			newLoadCommand(e), newUnloadCommand(e), newCopyCommand(e), newVerifyCommand(e), newMigrateCommand(e),
		}},
		{"try", "Examine and try:", []*cobra.Command{
			newDoctorCommand(e), newTopCommand(e), newRecallCommand(e), newFakeCommand(e), newDemoCommand(e),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, verb := range g.verbs {
			verb.GroupID = g.id
			root.AddCommand(verb)
		}
	}
	root.AddCommand(newVersionCommand(e))
	return root
}

func newVersionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs, Example: "  vecql version",
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(e.out, "vecql", version())
			return nil
		},
	}
}

// version returns the version of the module, "(devel)" if the build has none.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// A usageError means that the arguments are wrong: exit code 2.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usagef returns a usageError with a text.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A flagFault is flags that contradict each other, if is is true.
type flagFault struct {
	is   bool
	text string
}

// checkFlags returns a usageError with the text of the first fault.
func checkFlags(faults []flagFault) error {
	for _, f := range faults {
		if f.is {
			return usageError{errors.New(f.text)}
		}
	}
	return nil
}

// An advisedError is an error with what to do about it. The advice is printed even when the command was interrupted.
type advisedError struct {
	err    error
	advice string
}

func (e advisedError) Error() string { return e.err.Error() + "; " + e.advice }
func (e advisedError) Unwrap() error { return e.err }

// advise returns err with what to do about it; nil for nil.
func advise(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return advisedError{err, fmt.Sprintf(format, args...)}
}

// report prints the error of a command on one line and returns the exit code.
func report(ctx context.Context, w io.Writer, command string, err error) (exitCode int) {
	if err == nil {
		return 0
	}
	code, text := exitFailed, withHints(err.Error())
	var usage usageError
	var advised advisedError
	var rejected rejectedError
	switch {
	case ctx.Err() != nil:
		code, text = exitInterrupted, "interrupted"
		if errors.As(err, &advised) {
			text += "; " + advised.advice
		}
	case errors.As(err, &usage):
		code = exitUsage
		text += "; see " + command + " --help"
	case errors.As(err, &rejected):
		code = exitRejected
	default:
		text = withHints(explain(err))
	}
	fmt.Fprintf(w, "%s: %s\n", command, oneLine(text))
	var place placedError
	if errors.As(err, &place) && ctx.Err() == nil {
		fmt.Fprintln(w, place.caret)
	}
	return code
}

// oneLine returns a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// missingUnit is the error of a duration that is a bare number.
var missingUnit = regexp.MustCompile(`missing unit in duration "([0-9.]+)"`)

// cobraSuggestion is how cobra adds the verbs that may be meant.
var cobraSuggestion = regexp.MustCompile(`\s+Did you mean this\?\s+(\S+)(?:\s+\S+)*\s*$`)

// withHints returns the text of an error on one line, with what a mistyped argument may mean.
func withHints(text string) string {
	text = cobraSuggestion.ReplaceAllString(text, "; did you mean $1?")
	if m := missingUnit.FindStringSubmatch(text); m != nil {
		text += "; did you mean " + m[1] + "s?"
	}
	return oneLine(text)
}

// withEnd returns the errors of work and of its end as one. Often one cause fails both: its text is then there once.
func withEnd(work, end error) error {
	switch {
	case work == nil || end == nil:
		return cmp.Or(work, end)
	case strings.Contains(work.Error(), end.Error()):
		return work
	case strings.Contains(end.Error(), work.Error()):
		return end
	}
	return fmt.Errorf("%w; %w", work, end)
}
