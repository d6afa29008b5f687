// SPDX-License-Identifier: Apache-2.0

package apidiff

import (
	"errors"
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/vecql/vecql/compat/cmd/internal/table"
)

// An edition is the packages of one side of a comparison, by import path.
type edition map[string]*types.Package

// loadReal loads the public packages of the API itself. The packages of one CQL type each (serialization/...), which
// the fork uses itself, are left out.
func loadReal(a *table.API) (edition, error) {
	dir, err := a.Fetch()
	if err != nil {
		return nil, err
	}
	loaded, err := load(dir, nil, "./...")
	if err != nil {
		return nil, err
	}
	public := slices.DeleteFunc(publicPackages(a, loaded), func(p *packages.Package) bool {
		return strings.Contains(p.PkgPath, "/serialization")
	})
	return newEdition(public), faults(public)
}

// loadCompat loads the packages of the compat module in the folder.
func loadCompat(a *table.API, dir string) (edition, error) {
	mod, err := writeModFile(dir)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(mod))
	loaded, err := load(dir, []string{"-modfile=" + mod}, "./...")
	if err != nil {
		return nil, err
	}
	public := publicPackages(a, loaded)
	return newEdition(public), faults(public)
}

// writeModFile writes copies of go.mod and go.sum of a compat module to a temporary folder, and replaces vecql by the
// folder of this repository. It returns the path of the copy of go.mod.
func writeModFile(dir string) (string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "apidiff")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "go.mod")
	mod = append(mod, "\nreplace github.com/vecql/vecql => ../..\n"...)
	return path, errors.Join(os.WriteFile(path, mod, 0o600), os.WriteFile(filepath.Join(folder, "go.sum"), sum, 0o600))
}

// publicPackages returns the packages of the API that programs import.
func publicPackages(a *table.API, loaded []*packages.Package) []*packages.Package {
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return p.Types == nil || !a.Owns(p.PkgPath) || strings.Contains(p.PkgPath+"/", "/internal/")
	})
}

// load type-checks the packages from source, and what they import from export data. flags are passed to go list.
func load(dir string, flags []string, patterns ...string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Dir:        dir,
		BuildFlags: flags,
		Env:        append(os.Environ(), "GOWORK=off"),
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading packages of %s: %w", dir, err)
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("loading packages of %s: no packages", dir)
	}
	return loaded, nil
}

func newEdition(loaded []*packages.Package) edition {
	e := edition{}
	for _, p := range loaded {
		e[p.PkgPath] = p.Types
	}
	return e
}

// faults returns the errors of the packages, from the type checker if there are any: the go command lists the same.
func faults(loaded []*packages.Package) error {
	var listed, checked []error
	for _, p := range loaded {
		for _, err := range p.Errors {
			if err.Kind == packages.TypeError {
				checked = append(checked, err)
			} else {
				listed = append(listed, err)
			}
		}
	}
	if len(checked) > 0 {
		return errors.Join(checked...)
	}
	return errors.Join(listed...)
}

// paths returns the import paths in order.
func (e edition) paths() []string { return slices.Sorted(maps.Keys(e)) }

// publicNames returns the exported names of each type, as path and name. A type has several names when the packages
// declare aliases. A type of another module is named if an alias of the packages stands for it.
func (e edition) publicNames() map[*types.TypeName][]string {
	names := map[*types.TypeName][]string{}
	for _, path := range e.paths() {
		scope := e[path].Scope()
		for _, name := range scope.Names() {
			declared, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || !declared.Exported() {
				continue
			}
			if named, ok := types.Unalias(declared.Type()).(*types.Named); ok {
				names[named.Obj()] = append(names[named.Obj()], path+"."+name)
			}
		}
	}
	return names
}
