// SPDX-License-Identifier: Apache-2.0

package vecql

// Which package may import which.

// imports lists the allowed imports of the packages in a folder and below it, unless a longer entry applies. The
// standard library, the package itself and the packages below it are always allowed. An allowed path covers the paths
// below it; the module's own name covers only the root package. Test files are free. A folder under internal/ needs an
// entry.
var imports = map[string][]string{
	".": {
		module + "/cql",
		module + "/column",
		module + "/stats",
		module + "/internal",
		"github.com/klauspost/compress",
		"github.com/pierrec/lz4/v4",
		"gopkg.in/inf.v0",
	},
	"bulk":                    {module, module + "/stats", module + "/cql", module + "/column", module + "/internal/atomicfile", module + "/internal/background", module + "/internal/codec", module + "/internal/cqltext"},
	"column":                  {module + "/cql", module + "/internal/bitmap", module + "/internal/textform"},
	"parquetscan/arrowcolumn": {module + "/column", module + "/cql", module + "/internal/bitmap", module + "/internal/pull", "github.com/apache/arrow-go/v18"},
	"compat/ecosystem":        {module + "/internal/cassandra", module + "/cqltest"},
	"compat/tests":            {module, module + "/compat", module + "/cql", module + "/cqltest", module + "/internal/valuetest", "gopkg.in/inf.v0", "github.com/stretchr/testify/require"},
	"compat":                  {module, module + "/cql", module + "/internal/codec", "gopkg.in/inf.v0"},
	"cmd/vecql":               nil,
	"compat/compattest":       {module + "/cqltest"},
	"compat/api":              {module, module + "/internal/hooks", module + "/internal/wire", module + "/compat", module + "/cql", module + "/internal/background"},
	"cdc":                     {module, module + "/stats", module + "/cql", module + "/column", module + "/internal/background", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/token", module + "/internal/wire"},
	"cql":                     nil,
	// only the public packages
	"examples":                        {module, module + "/cql", module + "/bulk", module + "/cdc", module + "/column", module + "/cqltest", module + "/groupby", module + "/parquetscan", module + "/pipe", module + "/search", module + "/tablescan", module + "/vector"},
	"expr":                            {module + "/column", module + "/cql", module + "/internal/bitmap", module + "/internal/lex", module + "/internal/textform"},
	"groupby":                         {module + "/column", module + "/internal/bitmap"},
	"parquetscan/arrowstream":         {"github.com/apache/arrow-go/v18"},
	"internal/atomicfile":             nil,
	"internal/background":             nil,
	"internal/bitmap":                 nil,
	"cmd/vecql/internal/clustertable": {module, module + "/column", module + "/cql", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/wire"},
	"internal/clusteruri":             {module + "/cql"},
	"internal/bitpack":                {"golang.org/x/sys/cpu"},
	"internal/codec":                  {module + "/column", module + "/cql", module + "/internal/background", module + "/internal/bitmap", module + "/internal/swap", module + "/internal/textform", module + "/internal/wire", "gopkg.in/inf.v0"},
	"internal/columntest":             {module + "/column"},
	"internal/conn":                   {module + "/cql", module + "/stats", module + "/internal"},
	"internal/cqltext":                nil,
	"cmd/vecql/internal/doctor":       {module, module + "/cql", module + "/stats", module + "/internal/placement"},
	"internal/docstore":               {module, module + "/cql", module + "/expr", module + "/search", module + "/vector", module + "/internal/background", module + "/internal/cqltext", module + "/internal/errtext", module + "/internal/vectorcheck"},
	"internal/doctest":                {"github.com/stretchr/testify"},
	"internal/fakecql":                {module + "/internal/leak", module + "/internal/memconn", module + "/internal/token", module + "/internal/wire", "github.com/stretchr/testify"},
	"cmd/vecql/internal/fakehttp":     {module, module + "/cql", module + "/cqltest", "github.com/google/uuid"},
	"internal/flight":                 nil,
	"internal/memconn":                nil,
	"internal/leak":                   {"github.com/stretchr/testify"},
	"internal/paging":                 {module + "/internal/background"},
	"internal/placement":              nil,
	"internal/pooled":                 nil,
	"internal/product":                {module},
	"internal/pull":                   nil,
	"internal/queue":                  nil,
	"internal/quietlog":               nil,
	"cmd/vecql/internal/gen":          {module, module + "/cql", module + "/cqltest", module + "/internal/atomicfile", module + "/internal/cqltext", "github.com/BurntSushi/toml", "github.com/jinzhu/inflection"},
	"cmd/vecql/internal/migrate":      {module, module + "/cql", module + "/internal/cqltext"},
	"cmd/vecql/internal/rowfile":      {module + "/column", module + "/cql", module + "/parquetscan/arrowstream", module + "/internal/atomicfile", module + "/internal/textform", module + "/parquetscan", "github.com/apache/arrow-go/v18", "github.com/klauspost/compress", "github.com/apache/arrow-go/v18/arrow/ipc"},
	"internal/schema":                 {module + "/cql"},
	"internal/soak":                   nil,
	"internal/snappy":                 {"golang.org/x/sys/cpu"},
	"internal/stream":                 nil,
	"internal/swap":                   {"golang.org/x/sys/cpu"},
	"internal/tablet":                 nil,
	"internal/valuetest":              {module + "/cql", "gopkg.in/inf.v0"},
	"cmd/vecql/internal/tablecopy":    {module, module + "/stats", module + "/cql", module + "/bulk", module + "/column", module + "/internal/background", module + "/cmd/vecql/internal/clustertable", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/schema", module + "/internal/wire", module + "/tablescan", "golang.org/x/sync/errgroup"},
	"cmd/vecql/internal/tablediff":    {module, module + "/stats", module + "/cql", module + "/column", module + "/internal/background", module + "/cmd/vecql/internal/clustertable", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/schema", module + "/internal/wire", module + "/tablescan", "golang.org/x/sync/errgroup"},
	"internal/textform":               nil,
	"internal/token":                  nil,
	"internal/lex":                    nil,
	"internal/literals":               {"github.com/cespare/xxhash/v2", "golang.org/x/sys/cpu"},
	"cmd/vecql/internal/sql":          {module + "/column", module + "/expr", module + "/groupby", module + "/internal/lex", module + "/pipe"},
	// the command, above all other packages
	"cmd/vecql/internal/tool": {
		"golang.org/x/sync/errgroup",
		module, module + "/stats", module + "/bulk", module + "/column", module + "/cql", module + "/cqltest", module + "/expr", module + "/groupby",
		module + "/parquetscan", module + "/pipe", module + "/search", module + "/tablescan", module + "/vector", module + "/internal",
		module + "/cmd/vecql/internal",
		"github.com/BurntSushi/toml", "github.com/go-analyze/charts/chartdraw", "github.com/jedib0t/go-pretty/v6/table",
		"github.com/jedib0t/go-pretty/v6/text",
		"github.com/schollz/progressbar/v3", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term",
	},
	"internal/vectorcheck": {module + "/vector"},
	"internal/wire":        nil,
	"internal/hooks":       {module + "/cql", module + "/internal/wire"},
	"internal/errtext":     nil,
	"internal/version":     nil,
	"internal/frame":       {module + "/cql", module + "/internal/errtext", module + "/internal/wire", "github.com/klauspost/compress", "github.com/pierrec/lz4/v4"},
	"stats":                {module + "/cql", module + "/internal/errtext"},
	"parquetscan": {
		module + "/column", module + "/cql", module + "/internal/atomicfile", module + "/internal/bitmap", module + "/internal/version",
		"golang.org/x/sync",
	},
	"parquetscan/internal/arrowtest": {module + "/column", module + "/internal/bitmap", "github.com/apache/arrow-go/v18"},
	"parquetscan/internal/buffer": {
		module + "/column", module + "/internal/bitmap", module + "/internal/snappy", module + "/parquetscan/internal/footer",
	},
	"parquetscan/internal/chunk": {
		module + "/column", module + "/internal/bitmap", module + "/parquetscan/internal/buffer", module + "/parquetscan/internal/decode",
		module + "/parquetscan/internal/failure", module + "/parquetscan/internal/footer", module + "/parquetscan/internal/format",
		module + "/parquetscan/internal/page",
	},
	"parquetscan/internal/crypt": {module + "/parquetscan/internal/failure", module + "/parquetscan/internal/thrift"},
	"parquetscan/internal/decode": {
		module + "/column", module + "/internal/bitmap", module + "/internal/bitpack", module + "/parquetscan/internal/buffer",
		module + "/parquetscan/internal/failure", module + "/parquetscan/internal/footer", module + "/parquetscan/internal/format",
		module + "/parquetscan/internal/page", module + "/parquetscan/internal/thrift",
	},
	"parquetscan/internal/encoder": {
		module + "/column", module + "/parquetscan/internal/buffer", module + "/parquetscan/internal/format",
		module + "/parquetscan/internal/thrift", "github.com/andybalholm/brotli", "github.com/cespare/xxhash/v2",
		"github.com/klauspost/compress", "github.com/pierrec/lz4/v4",
	},
	"parquetscan/internal/failure": nil,
	"parquetscan/internal/footer": {
		module + "/column", module + "/parquetscan/internal/crypt", module + "/parquetscan/internal/failure",
		module + "/parquetscan/internal/format", module + "/parquetscan/internal/input", module + "/parquetscan/internal/thrift",
		"github.com/google/flatbuffers",
	},
	"parquetscan/internal/format": {module + "/parquetscan/internal/thrift"},
	"parquetscan/internal/input":  {module + "/parquetscan/internal/failure"},
	"parquetscan/internal/page": {
		module + "/internal/literals", module + "/internal/snappy", module + "/parquetscan/internal/buffer",
		module + "/parquetscan/internal/crypt", module + "/parquetscan/internal/failure", module + "/parquetscan/internal/footer",
		module + "/parquetscan/internal/format", module + "/parquetscan/internal/input", module + "/parquetscan/internal/thrift",
		"github.com/andybalholm/brotli", "github.com/klauspost/compress", "github.com/pierrec/lz4/v4",
	},
	"parquetscan/internal/predicate": {
		module + "/column", module + "/cql", module + "/parquetscan/internal/buffer", module + "/parquetscan/internal/failure",
		module + "/parquetscan/internal/footer", module + "/parquetscan/internal/format", module + "/parquetscan/internal/thrift",
		"github.com/cespare/xxhash/v2",
	},
	"parquetscan/internal/thrift": nil,
	"cqltest": {
		module + "/internal",
		"github.com/google/uuid",
		"github.com/klauspost/compress",
		"github.com/pierrec/lz4/v4",
	},
	"cqltest/internal/engine": {
		module + "/cqltest/internal/cql",
		module + "/internal",
		module + "/vector", // no driver: its kernels order the rows of an index, whose scores the engine computes itself
		"github.com/google/uuid",
	},
	"internal/schema/schematest": {
		module + "/cql",
		"github.com/stretchr/testify",
	},
	// expressions, groups and scans as one chain
	"langchainvecql":     {module, module + "/internal/docstore", "github.com/tmc/langchaingo"},
	"einovecql":          {module, module + "/internal/docstore", "github.com/cloudwego/eino"},
	"genkitvecql":        {module, module + "/internal/docstore", "github.com/firebase/genkit/go"},
	"pipe":               {module + "/column", module + "/cql", module + "/expr", module + "/groupby", module + "/parquetscan"},
	"tablescan":          {module, module + "/stats", module + "/cql", module + "/column", module + "/expr", module + "/internal/background", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/paging"},
	"vector":             {module + "/column", "golang.org/x/sys/cpu"},
	"search":             {module, module + "/column", module + "/cql", module + "/expr", module + "/tablescan", module + "/vector", module + "/internal/background", module + "/internal/codec", module + "/internal/cqltext", module + "/internal/errtext", module + "/internal/product", module + "/internal/vectorcheck"},
	"search/semcache":    {module, module + "/bulk", module + "/cql", module + "/search", module + "/tablescan", module + "/vector", module + "/internal/cqltext", module + "/internal/errtext", module + "/internal/product", module + "/internal/vectorcheck"},
	"internal/cassandra": nil, // independent of the driver, so that it can check the driver
}

// testOnly lists the folders of packages that only test files and other such packages import.
var testOnly = []string{"compat/tests", "internal/columntest", "internal/doctest", "internal/fakecql", "internal/leak", "internal/schema/schematest", "internal/soak", "internal/valuetest", "parquetscan/internal/arrowtest"}
