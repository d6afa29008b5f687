module github.com/vecql/vecql/tests/interop

go 1.25.0

replace github.com/vecql/vecql => ../..

require (
	github.com/datastax/go-cassandra-native-protocol v0.0.0-20240903140133-605a850e203b
	github.com/rs/zerolog v1.20.0
	github.com/stretchr/testify v1.12.1
	github.com/vecql/vecql v0.0.0
)

require (
	github.com/golang/snappy v0.0.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
