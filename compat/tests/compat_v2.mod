module github.com/vecql/vecql/compat/tests

go 1.25.0

replace (
	github.com/gocql/gocql => ../gocqlv2
	github.com/vecql/vecql => ../..
)

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/gocql/gocql v1.7.0
	github.com/hailocab/go-hostpool v0.0.0-20160125115350-e80d13ce29ed
	github.com/scylladb/gocqlx/v2 v2.8.0
	github.com/stretchr/testify v1.12.1
	github.com/vecql/vecql v0.0.0
	gopkg.in/inf.v0 v0.9.1
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	github.com/scylladb/go-reflectx v1.0.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
