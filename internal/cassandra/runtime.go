// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The cache: the jars of each version of Cassandra, resolved once, and an archive of their loaded classes, which halves
// the time of every start. One lock guards the folder of a version. Each start verifies its content, and repairs what
// a crash has left incomplete.

// runtimeFiles lists the files needed to start a node of a version.
type runtimeFiles struct {
	release
	version   string
	cache     string // folder of the version
	java      javaTool
	classpath string
	archive   string // "" if this java cannot create one
}

// pom names the only direct dependency, whose version is the format's argument; Maven resolves the others.
const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>vecql</groupId>
  <artifactId>cassandra-jars</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>%s</version>
    </dependency>
  </dependencies>
</project>
`

// copyGoal pins the plugin's version, because another version may lay out the files differently.
const copyGoal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

// cacheDir returns the folder of downloads with that name, which it creates: below VECQL_CACHE if that is set, else
// below the user's cache.
func cacheDir(name string) (string, error) {
	base := os.Getenv("VECQL_CACHE")
	if base == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(user, "vecql")
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// versionDir returns the folder of a version, which it creates.
func versionDir(version string) (string, error) { return cacheDir("cassandra-" + version) }

// prepareRuntime verifies and fills the cache of a version, installs missing tools where it can, and returns the files.
func prepareRuntime(ctx context.Context, version string, log func(...any)) (*runtimeFiles, error) {
	cache, err := versionDir(version)
	if err != nil {
		return nil, fmt.Errorf("cassandra: cache: %w", err)
	}
	lock, err := lockFile(ctx, filepath.Join(cache, "lock"), tryLock, log, "another process prepares the jars")
	if err != nil {
		return nil, fmt.Errorf("cassandra: cache: %w", err)
	}
	defer lock.Close()

	rt := &runtimeFiles{release: releases[line(version)], version: version, cache: cache}
	lib := filepath.Join(cache, "lib")
	jars := readManifest(lib)
	if rt.java, err = findTools(ctx, rt.release.java, jars == nil, log); err != nil {
		return nil, err
	}
	if jars == nil {
		if jars, err = resolve(ctx, version, cache, lib, log); err != nil {
			return nil, err
		}
	}
	rt.classpath = classpath(lib, jars)
	if rt.archive, err = classArchive(ctx, lib, jars, rt, log); err != nil {
		return nil, err
	}
	return rt, nil
}

// jar is a line of the manifest. It contains the time because java compares the time with the class archive's.
type jar struct {
	Name     string
	Size     int64
	Modified int64 // Unix nanoseconds
}

// manifestOf returns name, size and time of modification of each jar in a folder.
func manifestOf(lib string) ([]jar, error) {
	entries, err := os.ReadDir(lib) // sorted by name
	if err != nil {
		return nil, err
	}
	var jars []jar
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jar" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		jars = append(jars, jar{e.Name(), info.Size(), info.ModTime().UnixNano()})
	}
	return jars, nil
}

func manifestFile(lib string) string { return filepath.Join(lib, "manifest.json") }

// readManifest returns the jars in lib if all of them are unchanged since they were resolved, otherwise nil.
func readManifest(lib string) []jar {
	b, err := os.ReadFile(manifestFile(lib))
	if err != nil {
		return nil
	}
	var want []jar
	got, err := manifestOf(lib)
	if err != nil || json.Unmarshal(b, &want) != nil || len(got) != len(want) {
		return nil
	}
	for i := range want {
		if got[i] != want[i] {
			return nil
		}
	}
	return want
}

// resolve runs Maven to download the jars into lib. It writes to a temporary folder and renames that at the end. If the
// first attempt fails, a second one bypasses the user's Maven repository, which a crash may have corrupted.
func resolve(ctx context.Context, version, cache, lib string, log func(...any)) ([]jar, error) {
	log(fmt.Sprintf("cassandra: resolving the jars of Cassandra %s with Maven, once, into %s", version, cache))
	work := filepath.Join(cache, "resolving")
	defer os.RemoveAll(work)
	var jars []jar
	attempt := func(more ...string) (err error) {
		jars, err = resolveInto(ctx, version, work, more...)
		return err
	}
	err := attempt()
	if err != nil && ctx.Err() == nil {
		if again := attempt("-Dmaven.repo.local=" + filepath.Join(work, "repository")); again != nil {
			err = errors.Join(err, fmt.Errorf("second attempt, with an empty repository: %w", again))
		} else {
			err = nil
		}
	}
	if err == nil {
		err = os.RemoveAll(lib)
	}
	if err == nil {
		err = os.Rename(filepath.Join(work, "lib"), lib)
	}
	if err != nil {
		return nil, fmt.Errorf("cassandra: resolve jars: %w", err)
	}
	return jars, nil
}

// resolveInto downloads the jars with Maven into an empty folder and writes their manifest. more are arguments of mvn.
// It opens each jar, because Maven may leave truncated ones.
func resolveInto(ctx context.Context, version, work string, more ...string) ([]jar, error) {
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	lib := filepath.Join(work, "lib")
	if err := os.MkdirAll(lib, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(file, fmt.Appendf(nil, pom, version), 0o644); err != nil {
		return nil, err
	}
	// -C makes wrong checksums errors. -U retries artifacts that failed earlier.
	args := append([]string{
		"-q", "-B", "-C", "-U", "-f", file, copyGoal, "-DincludeScope=runtime",
		"-DoutputDirectory=" + lib,
	}, more...)
	if _, err := output(ctx, "mvn", args...); err != nil {
		return nil, err
	}
	jars, err := manifestOf(lib)
	if err != nil {
		return nil, err
	}
	if len(jars) == 0 {
		return nil, errors.New("mvn copied no jars")
	}
	for _, j := range jars {
		z, err := zip.OpenReader(filepath.Join(lib, j.Name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.Name, err)
		}
		z.Close()
	}
	b, err := json.MarshalIndent(jars, "", " ")
	if err != nil {
		return nil, err
	}
	return jars, os.WriteFile(manifestFile(lib), b, 0o644)
}

func classpath(lib string, jars []jar) string {
	paths := make([]string, len(jars))
	for i, j := range jars {
		paths[i] = filepath.Join(lib, j.Name)
	}
	return strings.Join(paths, string(os.PathListSeparator))
}

// archivingJava is the first major version of java that can record an archive when a program ends.
const archivingJava = 13

// keepArchive is the age up to which an archive of others is kept.
const keepArchive = 24 * time.Hour

// classArchive returns the class archive for this java, these options and these jars. If there is none, it records one
// by running a node that loads the classes most nodes load. An empty file means that this java cannot create an
// archive.
func classArchive(ctx context.Context, lib string, jars []jar, rt *runtimeFiles, log func(...any)) (string, error) {
	if rt.java.major < archivingJava {
		return "", nil
	}
	key := sha256.Sum256(fmt.Appendln(nil, rt.java, javaOptions, rt.javaOptions, lib, jars))
	file := filepath.Join(rt.cache, fmt.Sprintf("classes-%x.jsa", key[:8]))
	if info, err := os.Stat(file); err == nil {
		if info.Size() == 0 {
			return "", nil
		}
		return file, nil
	}
	log("cassandra: recording the class archive, once")
	old, _ := filepath.Glob(filepath.Join(rt.cache, "classes-*")) // the pattern is well formed
	for _, f := range old {
		// Of another java, of a checkout of the module with other options, or left by a crash. A checkout that is in use
		// keeps its archive.
		if info, err := os.Stat(f); err == nil && time.Since(info.ModTime()) > keepArchive {
			os.Remove(f)
		}
	}
	made := file + ".new"
	o, err := Options{
		Version: rt.version, TLS: TLSOptional, Auth: true, JVM: []string{"-XX:ArchiveClassesAtExit=" + made},
	}.checked()
	if err != nil {
		return "", err
	}
	c, err := start(ctx, o, rt)
	if err != nil {
		return "", err
	}
	if err := errors.Join(c.Nodes[0].Stop(ctx), c.Close()); err != nil {
		return "", err
	}
	if _, err := os.Stat(made); err != nil {
		log("cassandra: this java cannot create a class archive; starts will take longer")
		return "", os.WriteFile(file, nil, 0o644)
	}
	return file, os.Rename(made, file)
}
