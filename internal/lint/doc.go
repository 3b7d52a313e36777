// Package lint holds the rules of the house as tests: which package may import which, what
// plumbing may not call, and how long files and functions may be.
package lint
