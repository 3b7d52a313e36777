module github.com/mnem-project/mnem/conformance

go 1.26
