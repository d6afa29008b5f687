module github.com/vecql/vecql

go 1.25.0
