// Package lint holds the rules of the house as tests: which package may import which, what
// plumbing may not call, how long files and functions may be, and which wordings comments avoid.
package lint
