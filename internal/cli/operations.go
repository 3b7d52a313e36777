package cli

import (
	"slices"

	"github.com/mnem-project/mnem/operation"
)

// Operations returns what remote callers may ask: the verbs that are not for this machine alone, in the
// order of the help.
func Operations() []operation.Operation {
	var all []operation.Operation
	for _, v := range verbs() {
		if !v.spec.Local {
			all = append(all, v.spec.Operations()...)
		}
	}
	places := map[string]int{}
	for i, cmd := range commands() {
		places[cmd.Name] = i
	}
	slices.SortStableFunc(all, func(a, b operation.Operation) int {
		return places[a.Command[0]] - places[b.Command[0]]
	})
	return all
}
