// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/clusteruri"
	"github.com/vecql/vecql/internal/errtext"
)

// Clusters: URIs, and configurations that the program registers.

// ErrCluster means that the name of a cluster is neither a valid URI nor one of RegisterCluster.
var ErrCluster = errors.New("beamvecql: not a cluster")

var clusters sync.Map // name to func() (vecql.ClusterConfig, error)

// RegisterCluster registers the configuration of a cluster under a name, which transforms take in place of a URI.
// Workers call config, so that passwords and keys come from the worker's machine and are not part of the pipeline. Call
// it in an init function, before beam.Init: a worker is another process of the same program. It panics if the name is
// empty, has "://", or is taken.
func RegisterCluster(name string, config func() (vecql.ClusterConfig, error)) {
	if name == "" || strings.Contains(name, "://") {
		panic(fmt.Sprintf("beamvecql: register cluster %q: the name is empty or a URI", name))
	}
	if _, taken := clusters.LoadOrStore(name, config); taken {
		panic(fmt.Sprintf("beamvecql: register cluster %q: the name is taken", name))
	}
}

// clusterConfig returns the configuration of a cluster: see the package documentation.
func clusterConfig(cluster string) (cfg vecql.ClusterConfig, err error) {
	registered, ok := clusters.Load(cluster)
	switch {
	case ok:
		if cfg, err = registered.(func() (vecql.ClusterConfig, error))(); err != nil {
			return cfg, fmt.Errorf("beamvecql: configure cluster %q: %w", cluster, err)
		}
	case !strings.Contains(cluster, "://"):
		return cfg, fmt.Errorf("%w: no cluster is registered as %q: call RegisterCluster in an init function, or use a URI",
			ErrCluster, cluster)
	default:
		if cfg, err = uriConfig(cluster, true); err != nil {
			return cfg, err
		}
	}
	if cfg.Protocol.ApplicationInfo == (vecql.ApplicationInfo{}) {
		cfg.Protocol.ApplicationInfo.ApplicationName = "beamvecql"
	}
	return cfg, nil
}

// checkCluster returns an error for a URI with a mistake, when the pipeline is made. A name may be registered on
// workers only, and the files of TLS are files of the workers.
func checkCluster(cluster string) error {
	if !strings.Contains(cluster, "://") {
		return nil
	}
	_, err := uriConfig(cluster, false)
	return err
}

// uriConfig returns the configuration of a URI, with the files of TLS if files is set. Its errors leave out the URI,
// which may have a password.
func uriConfig(uri string, files bool) (cfg vecql.ClusterConfig, err error) {
	settings, err := clusteruri.Parse(uri)
	if err == nil {
		err = clusteruri.Check(settings)
	}
	if err != nil {
		return cfg, fmt.Errorf("%w: %w", ErrCluster, err)
	}
	if !files {
		maps.DeleteFunc(settings, func(name, _ string) bool { return strings.HasPrefix(name, "tls.") })
	}
	made, err := vecql.ParseURI(clusteruri.Format(settings))
	if err != nil {
		return cfg, fmt.Errorf("%w: %s", ErrCluster, errtext.Of(err))
	}
	return *made, nil
}
