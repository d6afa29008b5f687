module github.com/vecql/vecql/bench

go 1.25.0

replace github.com/vecql/vecql => ../

require github.com/vecql/vecql v0.0.0

require (
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	golang.org/x/sys v0.47.0 // indirect
	gopkg.in/inf.v0 v0.9.1 // indirect
)
