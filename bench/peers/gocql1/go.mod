module github.com/vecql/vecql/bench/peers/gocql1

go 1.25.0

replace (
	github.com/vecql/vecql => ../../..
	github.com/vecql/vecql/bench => ../..
)

require (
	github.com/gocql/gocql v1.7.0
	github.com/vecql/vecql/bench v0.0.0
)

require (
	github.com/golang/snappy v0.0.3 // indirect
	github.com/hailocab/go-hostpool v0.0.0-20160125115350-e80d13ce29ed // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
