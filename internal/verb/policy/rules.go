package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// Unknown returns the patterns of operations that fit none of names, each once.
func (p *Policy) Unknown(names []string) (unknown []string) {
	for _, r := range p.Rules {
		for _, o := range r.Operations {
			fits := func(name string) bool { return Match(o, name) }
			if !slices.ContainsFunc(names, fits) && !slices.Contains(unknown, o) {
				unknown = append(unknown, o)
			}
		}
	}
	return unknown
}

// Allows returns an error wrapping ErrDenied if an agent may not do an operation, or not on nodes of
// each type and on edges of each type that leave nodes of the first of these.
func (p *Policy) Allows(agent, operation string, types, edges []string) error {
	err := p.Operation(agent, operation)
	for _, t := range types {
		if err == nil {
			err = p.Touch(agent, operation, state.Touch{Kind: core.TouchNode, Type: t})
		}
	}
	for _, t := range edges {
		if err == nil {
			err = p.Touch(agent, operation, state.Touch{Kind: core.TouchEdge, Type: t, Source: types[0]})
		}
	}
	return err
}

// Encode returns the file of a policy of one rule.
func Encode(r Rule) []byte {
	list := func(items []string) string {
		out := make([]string, len(items))
		for i, s := range items {
			out[i] = string(ipld.AppendJSON(nil, ipld.StringValue(s)))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return fmt.Appendf(nil, "{\n  \"version\": 1,\n  \"rules\": [\n    {\n      \"agents\": %s,\n"+
		"      \"operations\": %s,\n      \"types\": %s,\n      \"edges\": %s\n    }\n  ]\n}\n",
		list(r.Agents), list(r.Operations), list(r.Types), list(r.Edges))
}
