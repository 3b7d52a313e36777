package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

var (
	// ErrDenied is wrapped by every refusal.
	ErrDenied = errors.New("not allowed by the policy")
	// ErrDamaged is wrapped by the error for a file that is no policy.
	ErrDamaged = errors.New("the policy is damaged")
)

// Rule allows agents some operations on some types.
type Rule struct {
	Note       string
	Agents     []string // patterns, as all lists here
	Operations []string
	Types      []string // of nodes
	Edges      []string // of edges
	// Only confines the agents to a branch, in whose name {agent} stands for the agent's, "" for no branch.
	Only string
	// Signed lets the operations take commits off branches and tags that other keys have signed.
	Signed bool
}

// Policy lists the rights of agents. A nil policy allows everything. Immutable: safe for concurrent use.
type Policy struct {
	Rules []Rule
	// Damage, if it is not nil, is why nothing is allowed: the file could not be read.
	Damage error
}

// DeniedError is returned for what no rule allows. errors.Is(err, ErrDenied) holds.
type DeniedError struct {
	Agent     string
	Operation string
	// Touch is the change that the operation would have made; its Kind is "" if the operation is not allowed at all.
	Touch state.Touch
}

func (e *DeniedError) Error() string {
	who := fmt.Sprintf("agent %q may not %s", e.Agent, e.Operation)
	t := e.Touch
	switch t.Kind {
	case "":
		return who + ": " + ErrDenied.Error()
	case core.TouchTag:
		return fmt.Sprintf("%s what makes, moves, removes or hides %s: %v", who, t.Ref, ErrDenied)
	case core.TouchProfile:
		return who + " where retrieval profiles change: " + ErrDenied.Error()
	case core.TouchDigest:
		return who + " where texts of digests change: " + ErrDenied.Error()
	case core.TouchEdge:
		return fmt.Sprintf("%s %s of type %q from a node of type %q: %v", who, named("edge", t), t.Type,
			t.Source, ErrDenied)
	}
	return fmt.Sprintf("%s %s of type %q: %v", who, named("node", t), t.Type, ErrDenied)
}

// named describes a touched thing, or any thing of its kind if none is named.
func named(kind string, t state.Touch) string {
	if t.ID.IsZero() {
		return kind + "s"
	}
	return kind + " " + t.ID.String()
}

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// Operation returns an error wrapping ErrDenied if an agent may not do an operation whatever it changes.
func (p *Policy) Operation(agent, operation string) error {
	if p == nil {
		return nil
	}
	if p.Damage != nil {
		return fmt.Errorf("agent %q may not %s: %w: %w", agent, operation, ErrDenied, p.Damage)
	}
	for _, r := range p.Rules {
		if r.applies(agent, operation) {
			return nil
		}
	}
	return &DeniedError{Agent: agent, Operation: operation}
}

// agentWord stands for the name of the agent in a Rule's Only.
const agentWord = "{agent}"

// Only returns the branch that the first rule with one confines an agent to, "" for none. A policy that cannot be
// read returns an error wrapping ErrDenied, since it may confine the agent.
func (p *Policy) Only(agent string) (string, error) {
	switch {
	case p == nil:
		return "", nil
	case p.Damage != nil:
		return "", fmt.Errorf("agent %q: %w: %w", agent, ErrDenied, p.Damage)
	}
	for _, r := range p.Rules {
		if r.Only != "" && anyMatch(r.Agents, agent) {
			return strings.ReplaceAll(r.Only, agentWord, agent), nil
		}
	}
	return "", nil
}

// Touch returns an error wrapping ErrDenied if an agent may not change a thing by an operation.
func (p *Policy) Touch(agent, operation string, t state.Touch) error {
	if err := p.Operation(agent, operation); p == nil || err != nil {
		return err
	}
	for _, r := range p.Rules {
		if r.applies(agent, operation) && r.covers(t) ||
			t.Kind == core.TouchProfile && r.some(agent, profileOperations) ||
			t.Kind == core.TouchTag && r.some(agent, tagOperations) {
			return nil
		}
	}
	return &DeniedError{Agent: agent, Operation: operation, Touch: t}
}

// Signed returns the error to refuse with if an agent may not remove a commit signed by another key from a branch or
// tag. Without a policy no agent may.
func (p *Policy) Signed(agent, operation string, lost *state.SignedError) error {
	may := func(r Rule) bool { return r.Signed && r.applies(agent, operation) }
	if p != nil && p.Damage == nil && slices.ContainsFunc(p.Rules, may) {
		return nil
	}
	return fmt.Errorf("agent %q may not %s: %w", agent, operation, lost)
}

// Guard returns what refuses the changes of an operation by an agent that are not allowed, nil if all are.
func (p *Policy) Guard(agent, operation string) state.Guard {
	if p == nil {
		return nil
	}
	allowed := make(map[state.Touch]bool) // earlier results, without ids and refs
	return func(t state.Touch) error {
		same := state.Touch{Kind: t.Kind, Type: t.Type, Source: t.Source}
		if allowed[same] {
			return nil
		}
		err := p.Touch(agent, operation, t)
		if err == nil && len(allowed) < maxRemembered {
			allowed[same] = true
		}
		return err
	}
}

// maxRemembered bounds the types that a Guard remembers to be allowed.
const maxRemembered = 1 << 10

func (r *Rule) applies(agent, operation string) bool {
	return anyMatch(r.Agents, agent) && anyMatch(r.Operations, operation)
}

func (r *Rule) covers(t state.Touch) bool {
	switch t.Kind {
	case core.TouchDigest: // is no fact: who may do the operation may change it
		return true
	case core.TouchNode:
		return anyMatch(r.Types, t.Type)
	case core.TouchEdge:
		return anyMatch(r.Edges, t.Type) && anyMatch(r.Types, t.Source)
	}
	return false
}

// some reports whether the rule lets an agent do all operations, or one whose name begins with a prefix.
func (r *Rule) some(agent, prefix string) bool {
	return anyMatch(r.Agents, agent) && slices.ContainsFunc(r.Operations, func(p string) bool {
		return p == "*" || strings.HasPrefix(p, prefix)
	})
}

const (
	profileOperations = "config_profile"
	tagOperations     = "tag"
)

func anyMatch(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}

// Match reports whether a name matches a pattern, in which * stands for any run of characters, also an empty one. Its
// time is at most proportional to the product of both lengths.
func Match(pattern, name string) bool {
	p, n := 0, 0
	star, from := -1, 0 // the last * seen, and the end of its run
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

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
