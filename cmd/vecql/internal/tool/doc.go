// SPDX-License-Identifier: Apache-2.0

// Package tool is the command vecql: one file for each verb, with its cobra.Command at the top, and what the verbs
// share.
//
//   - env is the streams, the terminal and the flags of a run.
//   - clusterFlags defines the flags of a cluster once. resolve sets those that the command line leaves out, by name,
//     from the environment and from the profile. connectError and explain reduce errors of the driver to one cause.
//   - report prints the line of an error and chooses the exit code.
//   - startProgress shows the state of long work, which a function returns, and serves it as metrics.
//
// Non-obvious:
//
//   - The output stream keeps its first error (checkedWriter), so that verbs may ignore errors of printing: Main
//     reports them.
//   - SIGPIPE is caught, so that a closed pipe is an error, after which verbs clean up. run then reports nothing.
//   - Commands of the shell are rows of one table (command.go), and names of psql are shortcuts of these. Scripts and
//     the shell split their text by splitItems, and a runner executes the items.
//   - COPY is a command of load or unload with flags, in an env with the configuration of the shell (env.cfg).
//   - What EDIT saves is the next line of the shell, so that it is executed, continued and remembered as a typed line.
//   - A result goes to a pager only when it is longer than the screen.
//   - The shell runs its statements under a context of its own. SIGINT ends the statement; the context of Main, which
//     SIGINT ends too, would end the shell.
//   - Ctrl-C becomes a line (keys), because the terminal package takes it for the end of the input.
//   - The verb mcp holds the end of its input back until the calls before it are answered (stdioConn): the package of
//     the protocol cancels calls when it reads the end.
//   - The tool query of mcp sends the tokens of a statement, not its text (onlySelect), so that a comment which servers
//     end elsewhere cannot hide another statement.
//   - USE opens a new session. A session has one keyspace, and protocol v4 has none for a request.
//
// The verbs for whole tables and clusters are packages of their own: tablediff, tablecopy, doctor, gen and fakehttp.
package tool
