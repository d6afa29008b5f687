// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
)

// Upgrades of nodes, and nodetool.

// managementOptions open the parts of java that its management needs.
var managementOptions = []string{
	"--add-exports", "java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED",
	"--add-exports", "java.rmi/sun.rmi.server=ALL-UNNAMED",
	"--add-exports", "java.rmi/sun.rmi.transport.tcp=ALL-UNNAMED",
}

// Upgrade gives a node that is down another version, and settings beside [Options.Set]. Its data stays. The node then
// has a port for [Node.Nodetool].
func (n *Node) Upgrade(ctx context.Context, version string, changes map[string]any) error {
	if n.state() == running || n.state() == paused {
		return fmt.Errorf("cassandra: upgrade node %s: it is running", n.Addr())
	}
	version, err := VersionOf(version)
	if err != nil {
		return err
	}
	rt, err := prepareRuntime(ctx, version, n.cluster.options.Log)
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return fmt.Errorf("cassandra: port of node %s for nodetool: %w", n.Addr(), err)
	}
	o := n.cluster.options
	o.Set = maps.Clone(o.Set)
	if o.Set == nil {
		o.Set = map[string]any{}
	}
	maps.Copy(o.Set, changes)
	o.JVM = slices.Concat(o.JVM, managementOptions, []string{fmt.Sprint("-Dcassandra.jmx.local.port=", port)})
	if err := n.writeFiles(o, rt); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.management = port
	return nil
}

// freePort returns a port on which no program listens at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Nodetool runs nodetool on a node that was upgraded, and returns its output.
func (n *Node) Nodetool(ctx context.Context, args ...string) (string, error) {
	n.mu.Lock()
	argv := slices.Concat(n.release.javaOptions, managementOptions, []string{
		"-Xmx128m", "-Duser.home=" + n.dir, // where nodetool writes its history
		"-Dlogback.configurationFile=" + n.url("logback.xml"), "-cp", n.classpath,
		"org.apache.cassandra.tools.NodeTool", "-h", "127.0.0.1", "-p", strconv.Itoa(n.management),
	}, args)
	java := n.argv[0]
	n.mu.Unlock()
	out, err := output(ctx, java, argv...)
	if err != nil {
		return "", fmt.Errorf("cassandra: nodetool on %s: %w", n.Addr(), err)
	}
	return out, nil
}
