package ops

import (
	"hash/fnv"
	"io"
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

// TableHash is the same for two builds whose verbs have the same names, fields and answers.
func TableHash() []byte {
	h := fnv.New64a()
	seen := map[reflect.Type]bool{}
	for _, s := range Table() {
		hashText(h, s.Command)
		hashType(h, reflect.TypeOf(s.request()), "op", seen)
		for _, t := range s.answers() {
			hashType(h, t, "json", seen)
		}
	}
	return h.Sum(nil)
}

func hashText(h io.Writer, text string) { _, _ = io.WriteString(h, text+"\n") } // a hash takes all

// hashType hashes what a type is called and has, by the names that a tag gives its fields.
func hashType(h io.Writer, t reflect.Type, tag string, seen map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() == reflect.Func && t.NumIn() == 1 { // an Each
		t = t.In(0).In(0)
	}
	if hashText(h, t.Name()); t.Kind() != reflect.Struct || seen[t] {
		return
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if hashText(h, f.Name+" "+name); f.IsExported() {
			hashType(h, f.Type, tag, seen)
		}
	}
}

// Tells reports whether an answer is one that people alone are given.
func (s *Spec) Tells(answer any) bool {
	return slices.ContainsFunc(s.Told, func(told any) bool {
		return reflect.TypeOf(answer) == reflect.PointerTo(reflect.TypeOf(told))
	})
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
