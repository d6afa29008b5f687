// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// Commands of the shell and of scripts, by their names in cqlsh and in psql.

// A command is a line that is not CQL.
type command struct {
	name      string     // words in upper case
	aliases   []string   // other words
	shortcuts []shortcut // names of psql
	args      string     // for the help
	text      string     // for the help, one line
	more      string     // further lines for HELP with the name
	hasResult bool       // it prints rows
	isCQL     bool       // the name begins a statement: only the shortcuts are read as the command
	isLong    bool       // it may have several lines and ends in ";", as a statement does
	run       func(r *runner, ctx context.Context, arg string) error
}

// A shortcut is a name of psql, which begins with a backslash.
type shortcut struct {
	name   string
	preset string // the argument where none is given
	isFile bool   // the argument is the name of a file, with or without quotes
}

// commands are all commands, in the order of the help.
var commands []command

// init sets commands. A literal would refer to itself, because HELP prints the commands.
func init() {
	commands = slices.Concat(resultCommands(), settingCommands(), shellCommands(), sessionCommands(), copyCommands())
}

// resultCommands are the commands that execute statements, and say where results go.
func resultCommands() []command {
	return []command{
		{
			name: "HELP", aliases: []string{"?"}, args: "[topic]", text: "print commands, or what a topic is",
			shortcuts: []shortcut{{name: `\?`}, {name: `\h`}}, run: (*runner).help,
		},
		{
			name: "DESCRIBE", aliases: []string{"DESC"}, args: "...", text: "print the schema", hasResult: true,
			shortcuts: []shortcut{
				{name: `\d`, preset: "TABLES"},
				{name: `\dt`, preset: "TABLES"},
				{name: `\l`, preset: "KEYSPACES"},
				{name: `\dn`, preset: "KEYSPACES"},
			},
			more: `  DESCRIBE CLUSTER | KEYSPACES | TABLES | TYPES | FUNCTIONS | AGGREGATES
  DESCRIBE [FULL] SCHEMA
  DESCRIBE KEYSPACE | TABLE | INDEX | MATERIALIZED VIEW | TYPE | FUNCTION name
  DESCRIBE name        a keyspace, a table, an index or a view
`, run: (*runner).describe,
		},
		{
			name: "USE", args: "keyspace", text: "set the keyspace of other names", isCQL: true,
			shortcuts: []shortcut{{name: `\c`}},
			run:       func(r *runner, ctx context.Context, arg string) error { return r.run(ctx, "USE "+arg) },
		},
		{
			name: "SOURCE", args: "'file'", text: "execute a file",
			shortcuts: []shortcut{{name: `\i`, isFile: true}},
			more:      "  A statement that fails ends the file. EXIT ends the file, too.\n", run: (*runner).source,
		},
		{
			name: "CAPTURE", args: "['file'|OFF]", text: "append results to a file",
			shortcuts: []shortcut{{name: `\o`, preset: "OFF", isFile: true}},
			more: `  Results are then in the file and not on the screen. An existing file is kept:
  results follow what it has. Without an argument CAPTURE prints the file.
`, run: (*runner).setCapture,
		},
	}
}

// settingCommands are the commands that change how statements are executed and printed.
func settingCommands() []command {
	return []command{
		{
			name: "EXPAND", args: "[ON|OFF]", text: "print each cell on a line",
			shortcuts: []shortcut{{name: `\x`, preset: toggle}},
			run:       func(r *runner, _ context.Context, arg string) error { return r.onOff("Expand", &r.o.expand, arg) },
		},
		{
			name: "PAGING", args: "[ON|OFF|rows]", text: "show long results in a pager",
			more: `  The pager is $PAGER, or less. A number is the rows that are fetched at a time.
`, run: (*runner).setPaging,
		},
		{
			name: "CONSISTENCY", args: "[level]", text: "print or set the consistency level", run: (*runner).setConsistency,
		},
		{
			name: "SERIAL CONSISTENCY", args: "[level]", text: "the same for conditional statements", run: (*runner).setSerial,
		},
		{
			name: "TIMING", aliases: []string{"ELAPSED"}, args: "[ON|OFF]", text: "print the time of each statement",
			shortcuts: []shortcut{{name: `\timing`, preset: toggle}},
			run:       func(r *runner, _ context.Context, arg string) error { return r.onOff("Timing", &r.o.timing, arg) },
		},
		{
			name: "TRACING", args: "[ON|OFF]", text: "print the trace of each request",
			run: func(r *runner, _ context.Context, arg string) error { return r.onOff("Tracing", &r.o.tracing, arg) },
		},
	}
}

// sessionCommands are the commands on the session and the shell.
func sessionCommands() []command {
	return []command{
		{
			name: "SHOW", args: "VERSION|HOST|SESSION id", text: "print versions, the node, or a trace", run: (*runner).show,
		},
		{
			name: "LOGIN", args: "user ['password']", text: "connect as another user", run: (*runner).login,
			more: "  Without a password the shell asks for it. It is not in the history.\n",
		},
		{name: "CLEAR", aliases: []string{"CLS"}, text: "clear the screen", run: (*runner).clear},
		{
			name: "EXIT", aliases: []string{"QUIT"}, text: "end the shell, or the file",
			shortcuts: []shortcut{{name: `\q`}},
			run:       func(*runner, context.Context, string) error { return errExit },
		},
	}
}

// toggle is the argument that changes ON to OFF, and back.
const toggle = "TOGGLE"

// readCommand returns the command at the start of a text that ends with its line, and the offset after it. The command
// of the item is nil if there is none.
func readCommand(text string) (it item, next int) {
	line, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(line, `\`) {
		return readShortcut(line), len(line)
	}
	c, length := commandAt(line)
	if c == nil || c.isLong {
		return item{}, 0
	}
	start, end, next := length, length, len(line)
	for at, token := range cqltext.Tokens(line[length:]) {
		at += length
		if token == ";" {
			next = at + 1
			break
		}
		if start == length {
			start = at
		}
		end = at + len(token)
	}
	return item{text: line[:end], command: c, arg: line[min(start, end):end]}, next
}

// commandAt returns the command whose name is at the start of a line, and the length of the name; nil if there is none.
func commandAt(line string) (c *command, length int) {
	for i := range commands {
		c := &commands[i]
		for _, name := range append([]string{c.name}, c.aliases...) {
			if n := prefixLen(line, strings.Fields(name)); n > 0 && !c.isCQL {
				return c, n
			}
		}
	}
	return nil, 0
}

// prefixLen returns the length of the start of a line that consists of the words, 0 if the line begins otherwise.
func prefixLen(line string, words []string) (length int) {
	for at, token := range cqltext.Tokens(line) {
		if !strings.EqualFold(token, words[0]) {
			return 0
		}
		if words = words[1:]; len(words) == 0 {
			return at + len(token)
		}
	}
	return 0
}

// readShortcut returns the command of a line that begins with a name of psql.
func readShortcut(line string) item {
	line = strings.TrimRight(line, "; \t\r")
	name, arg, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	arg = strings.TrimSpace(arg)
	for i := range commands {
		for _, s := range commands[i].shortcuts {
			switch {
			case s.name != name:
				continue
			case arg == "":
				arg = s.preset
			case s.isFile && arg[0] != '\'' && arg[0] != '"':
				arg = "'" + strings.ReplaceAll(arg, "'", "''") + "'"
			}
			return item{text: line, command: &commands[i], arg: arg}
		}
	}
	return item{text: line, command: &unknownCommand, arg: name}
}

// unknownCommand is the command of an unknown name of psql, which is its argument.
var unknownCommand = command{run: func(_ *runner, _ context.Context, arg string) error {
	var names []string
	for _, c := range commands {
		for _, s := range c.shortcuts {
			names = append(names, s.name[1:])
		}
	}
	err := fmt.Errorf(`unknown command %s; \? lists the commands`, arg)
	if found := nearest(arg[1:], names); found != "" {
		return didYouMean(err, `\`+found)
	}
	return err
}}

// helpIntro is the start of HELP.
const helpIntro = `Statements end in ";" and may have several lines. Tab completes names, the arrow
keys recall statements, Ctrl-R recalls the last one with the text of the line,
Ctrl-C discards a statement or interrupts it, Ctrl-D ends the shell.

`

// help prints all commands, or a topic: a command or a statement.
func (r *runner) help(_ context.Context, topic string) error {
	if topic == "" {
		fmt.Fprint(r.e.out, helpIntro+commandHelp()+"\nHELP with the name of a command or of a statement of CQL prints more.\n")
		return nil
	}
	topic = strings.ToUpper(strings.Join(strings.Fields(topic), " "))
	for _, c := range commands {
		if c.name == topic || slices.Contains(c.aliases, topic) {
			fmt.Fprint(r.e.out, c.usage()+c.more)
			return nil
		}
	}
	var found bool
	for _, s := range statementSyntax {
		if s.name == topic || strings.HasPrefix(s.name, topic+" ") {
			fmt.Fprint(r.e.out, s.text)
			found = true
		}
	}
	if found {
		return nil
	}
	return didYouMean(fmt.Errorf("no help on %s; HELP lists the commands", topic), nearest(topic, firstWords()))
}

// commandHelp returns a line for each command.
func commandHelp() string {
	var b strings.Builder
	for _, c := range commands {
		b.WriteString(c.usage())
	}
	return b.String()
}

// usage returns the line of a command in the help.
func (c *command) usage() string {
	names := make([]string, len(c.shortcuts))
	for i, s := range c.shortcuts {
		names[i] = s.name
	}
	name := strings.Join(append([]string{c.name}, c.aliases...), ", ")
	return fmt.Sprintf("  %-28s %-13s %s\n", strings.TrimSpace(name+" "+c.args), strings.Join(names, " "), c.text)
}

// firstWords returns the words that begin a statement or a command.
func firstWords() (words []string) {
	for _, c := range commands {
		for _, name := range append([]string{c.name}, c.aliases...) {
			words = append(words, strings.Fields(name)[0])
		}
	}
	return append(words, statementWords...)
}

// statementWords are the words that begin a statement of CQL.
var statementWords = strings.Fields("ALTER BEGIN CREATE DELETE DROP GRANT INSERT LIST REVOKE SELECT TRUNCATE UPDATE USE")

// statementSyntax is the help on statements of CQL.
var statementSyntax = []struct{ name, text string }{
	{"SELECT", `  SELECT [DISTINCT] * | columns FROM table [WHERE conditions] [GROUP BY columns]
    [ORDER BY column [ASC|DESC] | vector ANN OF [...]] [PER PARTITION LIMIT n]
    [LIMIT n] [ALLOW FILTERING]
`},
	{"INSERT", `  INSERT INTO table (columns) VALUES (values) [IF NOT EXISTS]
    [USING TTL seconds AND TIMESTAMP microseconds]
  INSERT INTO table JSON '{...}'
`},
	{"UPDATE", `  UPDATE table [USING TTL seconds AND TIMESTAMP microseconds]
    SET column = value, ... WHERE key = value AND ... [IF conditions | IF EXISTS]
`},
	{"DELETE", "  DELETE [columns] FROM table [USING TIMESTAMP microseconds] WHERE conditions\n    [IF conditions | IF EXISTS]\n"},
	{"BEGIN", "  BEGIN [UNLOGGED | COUNTER] BATCH statement; ... APPLY BATCH\n"},
	{"CREATE KEYSPACE", `  CREATE KEYSPACE [IF NOT EXISTS] name WITH replication =
    {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}
`},
	{"CREATE TABLE", `  CREATE TABLE [IF NOT EXISTS] name (column type, ...,
    PRIMARY KEY ((partition key columns), clustering columns))
    [WITH CLUSTERING ORDER BY (column DESC) AND option = value AND ...]
`},
	{"CREATE TYPE", "  CREATE TYPE [IF NOT EXISTS] name (field type, ...)\n"},
	{"CREATE INDEX", "  CREATE INDEX [IF NOT EXISTS] [name] ON table (column)\n"},
	{"CREATE CUSTOM INDEX", "  CREATE CUSTOM INDEX [name] ON table (column) USING 'StorageAttachedIndex'\n    [WITH OPTIONS = {...}]\n"},
	{"CREATE ROLE", "  CREATE ROLE name WITH PASSWORD = '...' AND LOGIN = true\n"},
	{"ALTER TABLE", "  ALTER TABLE name ADD column type | DROP column | RENAME a TO b\n    | WITH option = value\n"},
	{"DROP", "  DROP KEYSPACE | TABLE | INDEX | TYPE | MATERIALIZED VIEW | ROLE [IF EXISTS] name\n"},
	{"TRUNCATE", "  TRUNCATE [TABLE] table\n"},
	{"GRANT", "  GRANT permission ON resource TO role\n"},
	{"REVOKE", "  REVOKE permission ON resource FROM role\n"},
	{"LIST", "  LIST ROLES | USERS | ALL PERMISSIONS [OF role]\n"},
}
