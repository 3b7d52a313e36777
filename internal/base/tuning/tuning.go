// Package tuning holds what a measurement puts in the place of a constant of the ranking. Requests take it
// and internal/evaluate gives it. internal/lint lets no other package import this one, so that a version
// of the ranking is the same for all who ask.
package tuning

// Constant is the name of a constant of the ranking and the value in its place.
type Constant struct {
	Name  string
	Value int64
}
