// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The session of a command, and errors of the driver as the tool prints them.

// connect opens a session that reads from the cluster of the flags. Its error names the one cause.
func (e *env) connect(ctx context.Context) (*vecql.Session, error) {
	cfg, err := e.readConfig()
	if err != nil {
		return nil, err
	}
	return e.open(ctx, cfg)
}

// connectAll is connect with the nodes of all data centers. It returns the configuration, too.
func (e *env) connectAll(ctx context.Context) (*vecql.Session, *vecql.ClusterConfig, error) {
	cfg, err := e.readConfig()
	if err != nil {
		return nil, nil, err
	}
	cfg.HostSelectionPolicy = nil
	session, err := e.open(ctx, cfg)
	return session, cfg, err
}

// readConfig is clusterConfig for commands that read.
func (e *env) readConfig() (*vecql.ClusterConfig, error) {
	cfg, err := e.clusterConfig()
	if err == nil {
		err = e.flags.consistency.refuseAny()
	}
	return cfg, err
}

// clusterConfig returns the configuration of the cluster of the flags, for commands that change it before open.
// Requests with the level ANY set it themselves: in a configuration ANY means the default. A verb that the shell runs
// gets the configuration of the shell.
func (e *env) clusterConfig() (*vecql.ClusterConfig, error) {
	if e.cfg != nil {
		cfg := *e.cfg
		return &cfg, nil
	}
	if err := e.flags.resolve(e.getenv); err != nil {
		return nil, err
	}
	if e.flags.user != "" && e.flags.password == "" {
		var err error
		if e.flags.password, err = e.askPassword(e.flags.user); err != nil {
			return nil, err
		}
	}
	return e.flags.clusterConfig(e.err)
}

// otherConfig returns the configuration of a second cluster: the cluster of a profile, with other contact points if
// hosts is not empty. Flags and environment belong to the first cluster.
func (e *env) otherConfig(profile string, hosts []string) (*vecql.ClusterConfig, error) {
	var f clusterFlags
	f.init()
	f.profile, f.configFile, f.verbose = profile, e.flags.configFile, e.flags.verbose
	if err := f.resolve(func(string) string { return "" }); err != nil {
		return nil, err
	}
	if len(hosts) > 0 {
		f.hosts = hosts
	}
	cfg, err := f.clusterConfig(e.err)
	if err == nil {
		err = f.consistency.refuseAny()
	}
	return cfg, err
}

// open opens a session.
func (e *env) open(ctx context.Context, cfg *vecql.ClusterConfig) (*vecql.Session, error) {
	session, err := vecql.NewSession(ctx, *cfg)
	if err != nil {
		return nil, connectError(cfg.Hosts, err)
	}
	if dc := e.flags.dataCenter; dc != "" && cfg.HostSelectionPolicy != nil {
		var names []string
		for _, h := range session.GetHosts() {
			names = append(names, h.DataCenter)
		}
		if slices.Sort(names); !slices.Contains(names, dc) {
			session.Close()
			return nil, fmt.Errorf("no node is in data center %q; the data centers are: %s", dc,
				strings.Join(slices.Compact(names), ", "))
		}
	}
	if e.metricsListen != "" {
		e.sessions = append(e.sessions, session)
	}
	return session, nil
}

// askPassword reads the password of a user from the terminal. Without a terminal it is empty.
func (e *env) askPassword(user string) (string, error) {
	f, _ := e.in.(*os.File)
	if !isTerminal(f) {
		return "", nil
	}
	fmt.Fprintf(e.err, "Password of %s: ", user)
	password, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(e.err)
	return string(password), err
}

// connectError returns the one cause of a failed start of a session, with what to do about it.
func connectError(hosts []string, err error) error {
	if isTimeout(err) && slices.ContainsFunc(hosts[:min(len(hosts), maxProbes)], speaksHTTP) {
		err = errors.New(httpCause)
	}
	prefix := "connect to " + strings.Join(hosts, ",") + ": "
	for _, cause := range connectCauses {
		if cause.is(err) {
			return advise(connectFailure{prefix + cause.text(err), err}, "%s", cause.advice)
		}
	}
	return connectFailure{prefix + cmp.Or(commonCause(err), err.Error()), err}
}

// A connectFailure is the error of the start of a session, with the text of its cause.
type connectFailure struct {
	text string
	err  error
}

func (f connectFailure) Error() string { return f.text }
func (f connectFailure) Unwrap() error { return f.err }

// nodeError is the text of the error of one of several nodes.
var nodeError = regexp.MustCompile(`(?s)^(?:vecql: )?node (\S+): (.*)$`)

// commonCause returns the text that the errors of all nodes have in common, "" if they differ or if there is one node.
func commonCause(err error) string {
	causes := nodeCauses(err)
	if slices.Sort(causes); len(causes) < 2 || causes[0] != causes[len(causes)-1] {
		return ""
	}
	return causes[0]
}

// nodeCauses returns the texts of the errors of nodes in err, without the addresses.
func nodeCauses(err error) (causes []string) {
	if err == nil {
		return nil
	}
	if list, ok := any(err).(interface{ Unwrap() []error }); ok {
		for _, err := range list.Unwrap() {
			causes = append(causes, nodeCauses(err)...)
		}
	} else {
		causes = nodeCauses(errors.Unwrap(err))
	}
	if m := nodeError.FindStringSubmatch(err.Error()); m != nil && len(causes) == 0 {
		causes = []string{strings.ReplaceAll(m[2], " "+m[1], "")}
	}
	return causes
}

// connectCauses are the causes that connectError recognizes, the most certain first.
var connectCauses = []struct {
	is     func(error) bool
	text   func(error) string
	advice string
}{
	{contains(httpCause), always("the server speaks HTTP"), "use the port of the native protocol, by default 9042"},
	{contains("speaks TLS"), always("the server speaks TLS"), "use --tls or --ca"},
	{
		contains("native protocol without TLS"), always("the server has no TLS at this port"),
		"leave out the TLS flags or use the port for TLS",
	},
	{contains("requires credentials"), always("the server requires a password"), "set --user and VECQL_PASSWORD"},
	{is(cql.CodeCredentials), always("wrong user name or password"), "check --user and VECQL_PASSWORD"},
	{
		is(vecql.ErrKeyspaceDoesNotExist), always("the keyspace does not exist"),
		"vecql query \"DESCRIBE KEYSPACES\" lists the keyspaces",
	},
	{as[x509.UnknownAuthorityError], always("the certificate is of an unknown authority"), "name it with --ca"},
	{as[x509.HostnameError], textOf[x509.HostnameError], "set --server-name to a name in the certificate"},
	{as[x509.CertificateInvalidError], textOf[x509.CertificateInvalidError], "renew the certificate"},
	{as[*net.DNSError], textOf[*net.DNSError], "check the names in --hosts"},
	{is(syscall.ECONNREFUSED), always("connection refused"), "check that the server runs and that the port is right"},
	{isTimeout, always("no answer in time"), "check the address, the firewall and --connect-timeout"},
	{
		contains("if the server expects TLS"), always("the server closed the connection without an answer"),
		"if it expects TLS, use --tls or --ca",
	},
}

func isTimeout(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

// httpCause is part of the error of a server that answers by HTTP.
const httpCause = "speaks HTTP"

// maxProbes is the number of contact points that are asked whether they speak HTTP, a second each.
const maxProbes = 3

// speaksHTTP reports whether a server that answered nothing to the native protocol answers a request of HTTP. Many such
// servers wait for the end of a line, which no first request of the native protocol has.
func speaksHTTP(host string) bool {
	const probeTimeout = time.Second
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(host, "9042")
	}
	conn, err := net.DialTimeout("tcp", host, probeTimeout)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(probeTimeout))
	if _, err := conn.Write([]byte("HEAD / HTTP/1.0\r\n\r\n")); err != nil {
		return false
	}
	head := make([]byte, len("HTTP/"))
	_, err = io.ReadFull(conn, head)
	return err == nil && string(head) == "HTTP/"
}

func contains(text string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), text) }
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func always(text string) func(error) string { return func(error) string { return text } }

// textOf returns the text of the E in err.
func textOf[E error](err error) string {
	var target E
	errors.As(err, &target)
	return target.Error()
}

// explain returns the text of an error for a user of the tool: of an error of a server the server's message, without
// node, attempts and time, which --verbose logs.
func explain(err error) string {
	if errors.Is(err, vecql.ErrNoConnections) {
		return explainGone(err)
	}
	text := err.Error()
	var failure *vecql.RequestFailure
	var server *cql.ServerError
	if errors.As(err, &failure) && errors.As(failure.Err, &server) {
		cause := server.Code.Error() + ": " + server.Message
		text = strings.ReplaceAll(text, failure.Error(), cause)
	}
	return strings.TrimPrefix(strings.ReplaceAll(text, "vecql: ", ""), "search: ")
}

// explainGone returns the text of an error without a node to send a request to: each cause once, and what to do.
func explainGone(err error) string {
	causes := nodeCauses(err)
	slices.Sort(causes)
	text := strings.Join(append([]string{"the cluster is gone: no node answers"}, slices.Compact(causes)...), ": ")
	for advised := (advisedError{}); errors.As(err, &advised); err = advised.err {
		text += "; " + advised.advice
	}
	return text
}
