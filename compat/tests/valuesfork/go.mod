module github.com/vecql/vecql/compat/tests/valuesfork

go 1.25.0

replace (
	github.com/gocql/gocql => github.com/scylladb/gocql v1.19.0
	github.com/vecql/vecql => ../../..
)
