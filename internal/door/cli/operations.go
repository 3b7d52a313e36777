package cli

import "github.com/mnem-project/mnem/internal/verb/operation"

// Operations returns what remote callers may ask: the verbs that are not for this machine alone.
func Operations() (all []operation.Operation) {
	for _, v := range verbs() {
		if !v.spec.Local {
			all = append(all, v.spec.Operations()...)
		}
	}
	return all
}
