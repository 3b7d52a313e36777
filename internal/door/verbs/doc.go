// Package verbs lists the verbs with how their answers are printed, and runs them for other surfaces than the
// command line.
package verbs
