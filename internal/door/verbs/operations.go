package verbs

import (
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// Operations returns what remote callers may ask: the verbs that are not for this machine alone.
func Operations() (all []operation.Operation) {
	for _, v := range Verbs() {
		if !v.Spec.Local {
			all = append(all, v.Spec.Operations()...)
		}
	}
	return all
}
