module github.com/mnem-project/mnem/conformance

go 1.26

require github.com/blevesearch/snowballstem v0.9.0
