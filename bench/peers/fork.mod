module github.com/vecql/vecql/bench/peers

go 1.25.0

replace (
	github.com/gocql/gocql => github.com/scylladb/gocql v1.19.0
	github.com/vecql/vecql => ../..
	github.com/vecql/vecql/bench => ..
	github.com/vecql/vecql/parquetscan => ../../parquetscan
	github.com/vecql/vecql/pipe => ../../pipe
)

require (
	github.com/apache/cassandra-gocql-driver/v2 v2.1.2
	github.com/gocql/gocql v1.7.0
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/vecql/vecql/bench v0.0.0
)

require (
	github.com/google/uuid v1.6.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sync v0.22.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
