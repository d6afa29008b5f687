// SPDX-License-Identifier: Apache-2.0

package cassandra

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// This file finds Java 17 and Maven, and installs them where it may.

const (
	javaPackage  = "openjdk-17-jre-headless"
	mavenPackage = "maven"
)

// A MissingError says, in one line, which programs a machine lacks and how to get them.
type MissingError struct {
	Packages []string // Debian's names
	Err      error    // why they could not be installed; nil when that was not tried, for want of apt-get or of the right to use it
}

func (e *MissingError) Error() string {
	names := map[string]string{javaPackage: "Java 17", mavenPackage: "Maven"}
	needs := make([]string, len(e.Packages))
	for i, p := range e.Packages {
		needs[i] = names[p]
	}
	plural := ""
	if len(e.Packages) > 1 {
		plural = "s"
	}
	line := fmt.Sprintf("cassandra: needs %s: install package%s %s", strings.Join(needs, " and "), plural, strings.Join(e.Packages, " and "))
	if e.Err != nil {
		line += " (" + strings.Join(strings.Fields(e.Err.Error()), " ") + ")"
	}
	return line
}

func (e *MissingError) Unwrap() error { return e.Err }

// javaTool is a java and what it says of itself.
type javaTool struct{ path, version string }

// findTools returns Java 17 and, if asked, sees that mvn is there. What is missing is installed or reported.
func findTools(ctx context.Context, needMaven bool, log func(...any)) (javaTool, error) {
	java, missing := lookForTools(ctx, needMaven)
	if len(missing) == 0 {
		return java, nil
	}
	if err := ctx.Err(); err != nil {
		return javaTool{}, err // a cut-off `java -version` says nothing about the machine
	}
	sudo, ok := mayInstall(ctx)
	if !ok {
		return javaTool{}, &MissingError{Packages: missing}
	}
	log("cassandra: installing " + strings.Join(missing, " and ") + " with apt-get")
	if err := install(ctx, sudo, missing); err != nil {
		return javaTool{}, &MissingError{Packages: missing, Err: err}
	}
	java, missing = lookForTools(ctx, needMaven)
	if len(missing) != 0 {
		return javaTool{}, &MissingError{Packages: missing, Err: errors.New("installed, but not found")}
	}
	return java, nil
}

func lookForTools(ctx context.Context, needMaven bool) (java javaTool, missing []string) {
	java, ok := findJava(ctx)
	if !ok {
		missing = append(missing, javaPackage)
	}
	if needMaven {
		if _, err := exec.LookPath("mvn"); err != nil {
			missing = append(missing, mavenPackage)
		}
	}
	return java, missing
}

var java17 = regexp.MustCompile(`version "17[."]`)

// findJava looks at JAVA_HOME, at PATH, and where Linux distributions put the versions that are not the default.
func findJava(ctx context.Context) (javaTool, bool) {
	var candidates []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		candidates = append(candidates, filepath.Join(home, "bin", "java"))
	}
	if path, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, path)
	}
	more, _ := filepath.Glob("/usr/lib/jvm/*17*/bin/java") // the pattern is well formed
	for _, path := range append(candidates, more...) {
		version, err := output(ctx, path, "-version")
		if err == nil && java17.MatchString(version) {
			return javaTool{path, version}, true
		}
	}
	return javaTool{}, false
}

// mayInstall reports whether apt-get can be used without asking anybody, and the words to put before it.
func mayInstall(ctx context.Context) (sudo []string, ok bool) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return nil, false
	}
	if os.Geteuid() == 0 {
		return nil, true
	}
	_, err := output(ctx, "sudo", "-n", "true")
	return []string{"sudo", "-n"}, err == nil
}

func install(ctx context.Context, sudo, packages []string) error {
	aptGet := append(sudo[:len(sudo):len(sudo)], "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300")
	for _, words := range [][]string{
		{"update"},
		append([]string{"install", "-y", "--no-install-recommends"}, packages...),
	} {
		argv := append(aptGet[:len(aptGet):len(aptGet)], words...)
		if _, err := output(ctx, argv[0], argv[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// output runs a program to its end and returns all it printed. An error carries the last of that.
func output(ctx context.Context, name string, args ...string) (string, error) {
	const most = 2000
	b, err := command(ctx, name, args...).CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err() // "signal: killed" is only how it looks
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(b[max(0, len(b)-most):])))
	}
	return string(b), nil
}
