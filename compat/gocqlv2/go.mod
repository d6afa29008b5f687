module github.com/apache/cassandra-gocql-driver/v2

go 1.25.0

require github.com/vecql/vecql v0.0.0

replace github.com/vecql/vecql => ../..
