// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"cmp"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The Python tests of the shared library of ADBC_VECQL_LIBRARY, which "make test-adbc" builds. VECQL_PYTHON is the
// interpreter.
func TestPython(t *testing.T) {
	if os.Getenv("ADBC_VECQL_LIBRARY") == "" {
		t.Skip("ADBC_VECQL_LIBRARY is not set: see make test-adbc")
	}
	cluster, _ := start(t, items)
	pytest := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("VECQL_PYTHON"), "python3"), "-m", "pytest", "-q", "tests")
	pytest.Dir = "python"
	pytest.Env = append(os.Environ(), "PYTHONPATH=.", "VECQL_URI="+uriOf(cluster), "PYTHONDONTWRITEBYTECODE=1")
	out, err := pytest.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}
