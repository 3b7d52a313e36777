package cli

import (
	"strings"

	"github.com/mnem-project/mnem/ops"
)

// shapes lists the shapes of each command's answer, any of which it may have, as operation.Schema reads
// them. Commands that are not here print no JSON.
func shapes() map[string][]string {
	all := make(map[string][]string)
	for path, prints := range machineAnswers() {
		for _, answer := range prints.answers {
			all[path] = append(all[path], ops.ShapeOf(answer))
		}
	}
	for _, v := range verbs() {
		all["mnem "+v.spec.Command] = v.spec.Shapes()
	}
	return all
}

// streams print one object a line instead of one.
func streams(path string) bool {
	if v := verbOf(strings.TrimPrefix(path, "mnem ")); v != nil {
		return v.spec.Stream()
	}
	return machineAnswers()[path].lines
}
