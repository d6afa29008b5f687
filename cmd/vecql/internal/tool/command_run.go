// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// What the commands of the shell do.

// confirm prints what a command has set, in the shell. The output of a script has results only.
func (r *runner) confirm(format string, args ...any) {
	if r.shell != nil {
		fmt.Fprintf(r.e.out, format, args...)
	}
}

// printSetting prints what is asked for by an empty argument, and otherwise confirms what is set.
func (r *runner) printSetting(arg, format string, args ...any) {
	if arg == "" {
		fmt.Fprintf(r.e.out, format, args...)
		return
	}
	r.confirm(format, args...)
}

// onOff sets a switch to ON or OFF.
func (r *runner) onOff(name string, on *bool, arg string) error {
	switch word := strings.ToUpper(arg); word {
	case "ON", "OFF":
		*on = word == "ON"
	case toggle:
		*on = !*on
	case "":
	default:
		return fmt.Errorf("%s is %s, want ON or OFF", strings.ToUpper(name), arg)
	}
	r.printSetting(arg, "%s is %s.\n", name, onText(*on))
	return nil
}

func onText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// setPaging switches the pager, or sets the rows of a page.
func (r *runner) setPaging(_ context.Context, arg string) error {
	on := !r.o.noPager
	if rows, err := strconv.Atoi(arg); err == nil {
		if rows < 1 {
			return fmt.Errorf("PAGING is %d, want at least 1 row", rows)
		}
		r.o.pageSize, arg = rows, "ON"
	}
	if err := r.onOff("Paging", &on, arg); err != nil {
		return fmt.Errorf("%w or a number of rows", err)
	}
	r.o.noPager = !on
	r.printSetting(arg, "%s are fetched at a time.\n", counted(r.o.pageSize, "row"))
	return nil
}

// setConsistency sets the consistency of the next statements.
func (r *runner) setConsistency(_ context.Context, arg string) error {
	if err := setLevel(&r.o.consistency, arg); err != nil {
		return err
	}
	r.printSetting(arg, "Consistency is %v.\n", r.consistency().level)
	return nil
}

// setSerial sets the consistency of the conditions of the next statements.
func (r *runner) setSerial(_ context.Context, arg string) error {
	level := r.o.serial
	if err := setLevel(&level, arg); err != nil {
		return err
	}
	if level.isSet && !level.level.IsSerial() {
		return fmt.Errorf("SERIAL CONSISTENCY is %v, want SERIAL or LOCAL_SERIAL", level.level)
	}
	r.o.serial = level
	for _, c := range []consistencyFlag{r.e.flags.serial, {cql.Serial, true}} {
		if !level.isSet {
			level = c
		}
	}
	r.printSetting(arg, "Serial consistency is %v.\n", level.level)
	return nil
}

// setLevel sets a level by its name in any case. An empty name leaves it.
func setLevel(level *consistencyFlag, name string) error {
	if name == "" {
		return nil
	}
	return didYouMean(level.Set(strings.ToUpper(name)), nearest(strings.ToUpper(name), levelNames()))
}

// levelNames returns the names of all consistency levels.
func levelNames() (names []string) {
	for c := cql.Any; c <= cql.LocalOne; c++ {
		names = append(names, c.String())
	}
	return names
}

// describe prints the schema.
func (r *runner) describe(ctx context.Context, arg string) error { return r.run(ctx, "DESCRIBE "+arg) }

// quotedFile returns the name in quotes that is the argument of a command. "~/" is the folder of the user.
func quotedFile(command, arg string) (string, error) {
	n := len(arg)
	if n < 3 || arg[0] != '\'' && arg[0] != '"' || arg[n-1] != arg[0] {
		return "", fmt.Errorf("%s needs the name of a file in quotes, such as %s 'items.cql'", command, command)
	}
	path := unquoted(arg)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	return path, nil
}

// maxDepth bounds the files that execute each other.
const maxDepth = 16

// source executes a file.
func (r *runner) source(ctx context.Context, arg string) error {
	path, err := quotedFile("SOURCE", arg)
	if err == nil {
		err = r.e.refuseBinary("is for one statement, and a file may have several")
	}
	if err != nil {
		return err
	}
	if r.depth == maxDepth {
		return fmt.Errorf("SOURCE %s: %d files execute each other: does one execute itself?", path, maxDepth)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	r.depth++
	defer func() { r.depth-- }()
	return r.runScript(ctx, newScript(path, string(text)))
}

// setCapture appends the next results to a file. OFF ends that.
func (r *runner) setCapture(_ context.Context, arg string) error {
	switch {
	case arg == "" && r.capture == nil:
		fmt.Fprintln(r.e.out, "Results are not captured.")
		return nil
	case arg == "":
		fmt.Fprintf(r.e.out, "Results go to %s.\n", r.capture.Name())
		return nil
	case strings.EqualFold(arg, "OFF"):
		return r.endCapture()
	}
	path, err := quotedFile("CAPTURE", arg)
	if err == nil {
		err = r.e.refuseBinary("is for one result in a file, and CAPTURE appends")
	}
	if err == nil {
		err = r.e.checkOutputs(nil, outputFile{"CAPTURE", path})
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = r.endCapture()
	r.capture = f
	r.confirm("Results go to %s; CAPTURE OFF ends that.\n", path)
	return err
}

// endCapture closes the file of CAPTURE.
func (r *runner) endCapture() error {
	if r.capture == nil {
		return nil
	}
	f := r.capture
	r.capture = nil
	return f.Close()
}

// show prints the versions, the node, or the trace of a request.
func (r *runner) show(ctx context.Context, arg string) error {
	word, id, _ := strings.Cut(arg, " ")
	switch strings.ToUpper(word) {
	case "VERSION":
		return r.showVersion(ctx)
	case "HOST":
		host := r.session.GetHosts()[0]
		fmt.Fprintf(r.e.out, "Connected to cluster %s at %v.\n", host.ClusterName, host.Address)
		return nil
	case "SESSION":
		return r.showSession(ctx, strings.TrimSpace(id))
	}
	return errors.New("SHOW wants VERSION, HOST or SESSION with the id of a trace")
}

// showVersion prints the versions of the tool, the server, CQL and the protocol.
func (r *runner) showVersion(ctx context.Context) error {
	var release, language string
	err := r.session.Query("SELECT release_version, cql_version FROM system.local").Consistency(cql.One).
		Scan(ctx, &release, &language)
	if err != nil {
		return err
	}
	server := "Cassandra " + release
	var scylla string
	if r.session.Query("SELECT version FROM system.versions WHERE key = 'local'").Consistency(cql.One).Scan(ctx, &scylla) == nil {
		server = "ScyllaDB " + scylla
	}
	fmt.Fprintf(r.e.out, "[vecql %s | %s | CQL spec %s | Native protocol v%d]\n", version(), server, language,
		r.session.ProtoVersion())
	return nil
}

// showSession prints a trace.
func (r *runner) showSession(ctx context.Context, text string) error {
	id, err := cql.ParseUUID(text)
	if err != nil {
		return err
	}
	err = r.session.Query("SELECT session_id FROM system_traces.sessions WHERE session_id = ?", id).Consistency(cql.One).
		Scan(ctx, new(cql.UUID))
	if errors.Is(err, vecql.ErrNotFound) {
		return fmt.Errorf("there is no trace %s; TRACING ON prints the id of each", text)
	}
	if err != nil {
		return err
	}
	vecql.NewTraceWriter(r.session, r.e.out).Trace(id.Bytes())
	return nil
}

// unquoted returns the text within quotes, or the word itself.
func unquoted(word string) string {
	n := len(word)
	if n < 2 || word[0] != '\'' && word[0] != '"' || word[n-1] != word[0] {
		return word
	}
	return strings.ReplaceAll(word[1:n-1], word[:1]+word[:1], word[:1])
}

// login connects as another user.
func (r *runner) login(ctx context.Context, arg string) error {
	var words []string
	for _, token := range cqltext.Tokens(arg) {
		words = append(words, unquoted(token))
	}
	if len(words) == 1 {
		password, err := r.e.askPassword(words[0])
		if err != nil {
			return err
		}
		words = append(words, password)
	}
	if len(words) != 2 {
		return errors.New("LOGIN wants a user and a password, in quotes where they are not plain names")
	}
	cfg := *r.cfg
	cfg.Authenticator = vecql.PasswordAuthenticator{Username: words[0], Password: words[1]}
	if err := r.reconnect(ctx, &cfg); err != nil {
		return err
	}
	r.confirm("Connected as %s.\n", words[0])
	return nil
}

// clear clears the screen of a terminal.
func (r *runner) clear(context.Context, string) error {
	if r.e.isTerminal {
		fmt.Fprint(r.e.raw, "\x1b[2J\x1b[H")
	}
	return nil
}
