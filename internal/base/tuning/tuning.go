// Package tuning holds values that replace constants of the ranking in measurements. Requests accept them and
// internal/evaluate sets them. internal/lint lets no other package import this one, so that a version of the
// ranking is the same for every caller.
package tuning

// Constant is the name of a constant of the ranking and its replacement.
type Constant struct {
	Name  string
	Value int64
}
