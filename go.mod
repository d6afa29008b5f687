module github.com/vecql/vecql

go 1.25.0

require (
	github.com/cespare/xxhash/v2 v2.3.0
	github.com/google/uuid v1.6.0
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/stretchr/testify v1.12.1
	golang.org/x/sys v0.47.0
	gopkg.in/inf.v0 v0.9.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
