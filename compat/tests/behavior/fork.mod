module github.com/vecql/vecql/compat/tests/behavior

go 1.25.0

replace (
	github.com/gocql/gocql => github.com/scylladb/gocql v1.19.0
	github.com/vecql/vecql => ../../..
)

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/gocql/gocql v1.7.0
	github.com/stretchr/testify v1.12.1
	github.com/vecql/vecql v0.0.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.22.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
