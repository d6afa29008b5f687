// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Python tests: of the sources with the shared library of ADBC_VECQL_LIBRARY, which "make test-adbc" builds, or of
// the wheel VECQL_WHEEL, which "make test-wheel" installs. VECQL_PYTHON is the interpreter.
func TestPython(t *testing.T) {
	library, wheel := os.Getenv("ADBC_VECQL_LIBRARY"), os.Getenv("VECQL_WHEEL")
	if library == "" && wheel == "" {
		t.Skip("neither ADBC_VECQL_LIBRARY nor VECQL_WHEEL is set: see make test-adbc and make test-wheel")
	}
	cluster, _ := start(t, items)
	pytest := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("VECQL_PYTHON"), "python3"), "-m", "pytest", "-q", "-p", "no:cacheprovider")
	pytest.Dir = filepath.Join("python", "tests")
	pytest.Env = append(os.Environ(), "VECQL_URI="+uriOf(cluster), "PYTHONDONTWRITEBYTECODE=1")
	if wheel == "" {
		pytest.Env = append(pytest.Env, "PYTHONPATH=..")
	} else {
		path, err := filepath.Abs(wheel)
		require.NoError(t, err)
		pytest.Env = append(pytest.Env, "VECQL_WHEEL="+path)
	}
	out, err := pytest.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}
