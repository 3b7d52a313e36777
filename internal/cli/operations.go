package cli

import (
	"strings"

	"github.com/mnem-project/mnem/operation"
)

// Operations returns what remote callers may ask: the verbs that are not for this machine alone, in the
// order of the help.
func Operations() []operation.Operation {
	of := map[string][]operation.Operation{} // by the command of the root
	for _, v := range verbs() {
		if !v.spec.Local {
			root, _, _ := strings.Cut(v.spec.Command, " ")
			of[root] = append(of[root], v.spec.Operations()...)
		}
	}
	var all []operation.Operation
	for _, name := range commands() {
		all = append(all, of[name]...)
	}
	return all
}
