// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// minVersion is vecql's version of Go.
const minVersion = "1.25.0"

// fetch downloads the program and copies it into the folder, with the files that are added to it. repos is the prefix
// of the URLs of repositories.
func (p program) fetch(ctx context.Context, dir, repos string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	load := p.download
	if p.repo != "" {
		load = p.clone
	}
	if err := load(ctx, dir, repos); err != nil {
		return err
	}
	if p.added != "" {
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("compat", "ecosystem", "testdata", p.added))); err != nil {
			return err
		}
	}
	module := filepath.Join(dir, p.sub)
	if err := dropReplaces(ctx, dir, module); err != nil {
		return err
	}
	return raiseVersion(ctx, module)
}

// clone checks the commit of the program's repository out.
func (p program) clone(ctx context.Context, dir, repos string) error {
	for _, args := range [][]string{
		{"clone", "-q", "--no-checkout", repos + p.repo, dir}, {"-C", dir, "checkout", "-q", p.sum},
	} {
		if out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %s%w", args[0], out, err)
		}
	}
	return nil
}

// download copies the program's module from the module proxy.
func (p program) download(ctx context.Context, dir, _ string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", p.module+"@"+p.version)
	cmd.Dir = dir
	// The checksum is pinned in programs.go, and the checksum database lacks some modules.
	cmd.Env = append(os.Environ(), "GOWORK=off", "GONOSUMDB="+p.module)
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if e := json.Unmarshal(out, &module); e != nil {
		return errors.Join(err, e)
	}
	switch {
	case module.Error != "":
		return errors.New(module.Error)
	case err != nil:
		return err
	case module.Sum != p.sum:
		return fmt.Errorf("checksum of %s@%s is %s, want %s", p.module, p.version, module.Sum, p.sum)
	}
	return os.CopyFS(dir, os.DirFS(module.Dir))
}

// raiseVersion makes the program's version of Go at least vecql's, as the go command does when a required module
// needs it. The language and vet depend on the version, so both runs have the same.
func raiseVersion(ctx context.Context, dir string) error {
	out, err := goOutput(ctx, dir, "list", "-m", "-f", "{{.GoVersion}}")
	if err != nil {
		return err
	}
	if version.Compare("go"+strings.TrimSpace(string(out)), "go"+minVersion) >= 0 {
		return nil
	}
	return goCommand(ctx, dir, "mod", "edit", "-go="+minVersion)
}

// dropReplaces removes the directives that replace a module by a folder that root does not have, which the proxy serves
// as a module of its own: the version that the program requires is used.
func dropReplaces(ctx context.Context, root, dir string) error {
	out, err := goOutput(ctx, dir, "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var file struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(out, &file); err != nil {
		return err
	}
	for _, r := range file.Replace {
		if !strings.HasPrefix(r.New.Path, ".") {
			continue
		}
		_, err := os.Stat(filepath.Join(dir, r.New.Path, "go.mod"))
		inside, relErr := filepath.Rel(root, filepath.Join(dir, r.New.Path))
		if err == nil && relErr == nil && filepath.IsLocal(inside) { // a folder outside is not the program's
			continue
		}
		old := r.Old.Path
		if r.Old.Version != "" {
			old += "@" + r.Old.Version
		}
		if err := goCommand(ctx, dir, "mod", "edit", "-dropreplace="+old); err != nil {
			return err
		}
	}
	return nil
}

// replace adds the line that puts a compat module in the place of gocql, or changes the one that is there. A compat
// module of a release requires that release of the driver; the module of the working tree takes the driver beside it.
func (p program) replace(ctx context.Context, dir, compat string) error {
	module := "github.com/gocql/gocql"
	if p.api == "gocqlv2" {
		module = "github.com/apache/cassandra-gocql-driver/v2"
	}
	if _, err := os.Stat(filepath.Join(compat, "go.mod")); err != nil {
		return err
	}
	driver := filepath.Dir(filepath.Dir(compat))
	return goCommand(ctx, dir, "mod", "edit", "-replace="+module+"="+compat, "-replace=github.com/vecql/vecql="+driver)
}

// goCommand runs a go command in the folder. The error has its output.
func goCommand(ctx context.Context, dir string, args ...string) error {
	_, err := goOutput(ctx, dir, args...)
	return err
}

func goOutput(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := newGo(ctx, dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s%s%w", stderr.Bytes(), out, err)
	}
	return out, nil
}

// newGo returns a go command that completes go.mod and go.sum, as go get does after a change of go.mod.
func newGo(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	return cmd
}

// firstLines returns the first lines of an error's text, without what the go command prints about downloads.
func firstLines(err error) string {
	if err == nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "go: downloading") && !strings.HasPrefix(line, "#") && len(lines) < 10 {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
