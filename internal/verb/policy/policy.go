// Package policy says what agents may change in a repository.
//
// A policy is one file, .mnem/policy.json. If there is none, everybody may do everything. If there is one, an agent may
// do what some rule allows and nothing else; a file that cannot be read allows agents nothing. People are not agents: a
// caller that names no agent is not bound. Reading is always allowed, and so is recording in sessions what was read.
//
//	{
//	  "version": 1,
//	  "rules": [
//	    {
//	      "note": "coding agents keep notes",
//	      "agents": ["claude*", "codex"],
//	      "operations": ["remember", "commit", "forget"],
//	      "types": ["Note", "Decision"],
//	      "edges": ["*"]
//	    }
//	  ]
//	}
//
//	version     1
//	rules       0 to 256 rules; what one of them allows is allowed
//	agents      names of agents, as commits record them; required
//	operations  names of commands that write, words joined by "_": commit, cherry_pick, op_restore
//	types       types of the nodes that may be touched; required, empty for none
//	edges       types of the edges that may be touched between them; default all
//	signed      true to let the operations take commits off branches and tags that other keys have
//	            signed; default false, which also holds if there is no policy
//	only        the branch that the agents are confined to, in which {agent} stands for the agent's name
//	note        for people
//
// Each list has 0 to 256 patterns of 1 to 255 bytes, in which * stands for any run of characters, also an empty one.
// One rule must allow all that an agent does to one thing: an agent that may change an edge may change edges of its
// type that leave nodes of its source's type. A node is touched by a change of its record, its mark or its embeddings;
// a change of its type needs both types. An agent may change retrieval profiles if a rule allows it an operation whose
// name begins with profile. It may make, move and remove tags, and hide them by a new branch of their name, if a rule
// allows it an operation whose name begins with tag. A tag that brings commits is compared with HEAD, as a new branch
// is.
//
// The file is UTF-8 JSON of at most 64 KiB; unknown or duplicate members are refused.
package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/base/regular"
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

// FileName is the name of the policy in the directory of a repository.
const FileName = "policy.json"

const (
	version     = 1
	maxFile     = 64 << 10 // bytes
	maxRules    = 256
	maxPatterns = 256 // of one list
	maxPattern  = 255 // bytes, as much as a type may have
	maxNote     = 1 << 10
)

// Read returns the policy in a file, nil if there is none. A file that is no policy gives one
// that allows nothing and tells why, with the error, which wraps ErrDamaged.
func Read(path string) (*Policy, error) {
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p *Policy
	if err == nil {
		p, err = Parse(data)
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
		return &Policy{Damage: err}, err
	}
	return p, nil
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		// A link that leads nowhere is no missing file: somebody wanted a policy.
		if _, linkErr := os.Lstat(path); linkErr == nil {
			return nil, errors.New("the link leads nowhere")
		}
	}
	if err != nil {
		return nil, err
	}
	if err := regular.Check(path, info); err != nil {
		return nil, err
	}
	f, err := regular.Open(path)
	if err != nil {
		// Not wrapped: removed between the two calls, it is there no more and no less than before.
		return nil, fmt.Errorf("open: %v", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, errors.Join(err, f.Close())
}

// Parse reads a policy, strictly. Its errors name the rule and the member.
func Parse(data []byte) (*Policy, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("more than %d bytes", maxFile)
	}
	v, err := ipld.ParseJSON(bytes.TrimSpace(data))
	if err != nil {
		return nil, err
	}
	p := &Policy{}
	versioned := false
	err = members(v, func(name string, v ipld.Value) error {
		switch name {
		case "version":
			if versioned = v.Kind() == ipld.Int && v.Int() == version; !versioned {
				return fmt.Errorf("this program knows version %d alone", version)
			}
			return nil
		case "rules":
			p.Rules, err = rules(v)
			return err
		}
		return errors.New("no member of a policy: want version and rules")
	})
	switch {
	case err != nil:
		return nil, err
	case !versioned:
		return nil, fmt.Errorf("version: missing: want %d", version)
	}
	return p, nil
}

// members calls fn with the members of an object and names the one that it returns an error for.
func members(v ipld.Value, fn func(name string, v ipld.Value) error) error {
	if v.Kind() != ipld.Map {
		return errors.New("not a JSON object")
	}
	for _, e := range v.Entries() {
		if err := fn(e.Key, e.Value); err != nil {
			return fmt.Errorf("%s: %w", e.Key, err)
		}
	}
	return nil
}

func rules(v ipld.Value) ([]Rule, error) {
	if v.Kind() != ipld.List {
		return nil, errors.New("not a list")
	}
	if n := len(v.List()); n > maxRules {
		return nil, fmt.Errorf("%d rules: at most %d", n, maxRules)
	}
	out := make([]Rule, len(v.List()))
	for i, item := range v.List() {
		var err error
		if out[i], err = rule(item); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return out, nil
}

func rule(v ipld.Value) (Rule, error) {
	r := Rule{Edges: []string{"*"}}
	lists := map[string]*[]string{"agents": &r.Agents, "operations": &r.Operations, "types": &r.Types, "edges": &r.Edges}
	err := members(v, func(name string, v ipld.Value) (err error) {
		switch name {
		case "agents", "operations", "types", "edges":
			*lists[name], err = patterns(v)
		case "signed":
			if r.Signed = v.Bool(); v.Kind() != ipld.Bool {
				err = errors.New("not true or false")
			}
		case "only":
			r.Only = v.Text()
			if err = core.CheckOnly(strings.ReplaceAll(r.Only, agentWord, "agent")); v.Kind() != ipld.String {
				err = errors.New("not a string")
			}
		case "note":
			if r.Note = v.Text(); v.Kind() != ipld.String || len(r.Note) > maxNote {
				err = fmt.Errorf("not a string of at most %d bytes", maxNote)
			}
		default:
			err = errors.New("no member of a rule: want agents, operations, types, edges, only, signed and note")
		}
		return err
	})
	if err != nil {
		return r, err
	}
	for _, name := range []string{"agents", "operations", "types"} {
		if *lists[name] == nil {
			return r, fmt.Errorf("%s: missing", name)
		}
	}
	return r, nil
}

func patterns(v ipld.Value) ([]string, error) {
	if v.Kind() != ipld.List || len(v.List()) > maxPatterns {
		return nil, fmt.Errorf("not a list of at most %d strings", maxPatterns)
	}
	out := make([]string, len(v.List()))
	for i, item := range v.List() {
		s := item.Text()
		if item.Kind() != ipld.String || s == "" || len(s) > maxPattern || !utf8.ValidString(s) {
			return nil, fmt.Errorf("item %d: not a string of 1 to %d bytes", i+1, maxPattern)
		}
		out[i] = s
	}
	return out, nil
}
