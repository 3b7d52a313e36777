package ops

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// declared are the verbs of this package, in no order.
var declared struct {
	all    []*Spec
	closed bool // once the variables of the package are made: what tests define is no part of it
}

func init() { declared.closed = true }

func declare(s *Spec) {
	if !declared.closed {
		declared.all = append(declared.all, s)
	}
}

// Table returns every verb that is declared here, by name.
func Table() []*Spec {
	all := slices.Clone(declared.all)
	slices.SortFunc(all, func(a, b *Spec) int { return strings.Compare(a.Command, b.Command) })
	return all
}

// Named returns the verb of a name, nil for none.
func Named(name string) *Spec {
	for _, s := range declared.all {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// hashLen is how many bytes of a hash tell two tables apart.
const hashLen = 8

// TableHash is the same for two builds whose verbs have the same names, fields and answers.
func TableHash() []byte {
	h := sha256.New()
	for _, s := range Table() {
		_, _ = fmt.Fprintf(h, "%s %d\n", s.Name(), s.Effect) // a hash takes all
		for _, f := range s.Fields() {
			_, _ = fmt.Fprintf(h, " %s %d\n", f.Name, f.Kind)
		}
		for _, t := range s.answers() {
			_, _ = fmt.Fprintf(h, " %s %s\n", t.Name(), shapeOf(t, ""))
		}
	}
	return h.Sum(nil)[:hashLen]
}

// answers are the types of the answers, those that people alone are given among them.
func (s *Spec) answers() []reflect.Type {
	list := append(s.Answers[:len(s.Answers):len(s.Answers)], s.Told...)
	if s.Answers == nil {
		return []reflect.Type{s.result.Elem()}
	}
	types := make([]reflect.Type, len(list))
	for i, a := range list {
		types[i] = reflect.TypeOf(a)
	}
	return types
}

// New returns a request with its defaults, a pointer.
func (s *Spec) New() (any, error) {
	req := s.request()
	for _, f := range s.Fields() {
		if err := f.SetDefault(req); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// Do runs the verb with a request that New made, as Verb.Run does.
func (s *Spec) Do(ctx context.Context, host Host, req any, emit func(any) error) error {
	return s.run(ctx, host, req, emit)
}
