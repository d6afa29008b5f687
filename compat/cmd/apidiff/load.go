// SPDX-License-Identifier: Apache-2.0

package main

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

// loadReal loads the API's own packages: those that the package in the folder imports.
func loadReal(a *table.API, dir string) (edition, error) {
	loaded, err := load(dir, ".")
	if err != nil {
		return nil, err
	}
	var paths []string
	for path := range loaded[0].Imports {
		if a.Owns(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	loaded, err = load(dir, paths...)
	if err != nil {
		return nil, err
	}
	return newEdition(loaded), faults(loaded)
}

// loadCompat loads the packages of the compat module in the folder. It returns the packages together with their compile
// errors, because an incomplete module can still be compared.
func loadCompat(a *table.API, dir string) (edition, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return nil, err
	}
	loaded, err := load(dir, "./...")
	if err != nil {
		return nil, err
	}
	public := slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return p.Types == nil || !a.Owns(p.PkgPath) || strings.Contains(p.PkgPath+"/", "/internal/")
	})
	return newEdition(public), faults(public)
}

// load type-checks the packages from source, and what they import from export data.
func load(dir string, patterns ...string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Dir: dir,
		Env: append(os.Environ(), "GOWORK=off"),
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
