package main

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// refs is a view: each ref with the text of a CID or the name of the ref it names.
type refs map[string]string

// opState is one operation and what it left.
type opState struct {
	refs refs
	time int64
	back int  // the operation it took back, 0 for none
	redo bool // whether that was an undo
}

// opLog is the operations, from 1; 0 is the state before them.
type opLog []opState

func newOpLog() opLog { return opLog{{refs: refs{}}} }

func (l opLog) last() int { return len(l) - 1 }

// add appends an operation unless it changes nothing.
func (l opLog) add(next opState) opLog {
	if len(changedRefs(l[l.last()].refs, next.refs)) == 0 {
		return l
	}
	return append(l, next)
}

func changedRefs(a, b refs) []string {
	var out []string
	for name, v := range a {
		if b[name] != v {
			out = append(out, name)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// changes are those of clause 15.5 that 15.6 may take back.
func (l opLog) changes(s int) []string {
	var out []string
	for _, name := range changedRefs(l[s-1].refs, l[s].refs) {
		if !strings.HasPrefix(name, "refs/sessions/") && s > 1 {
			out = append(out, name)
		}
	}
	return out
}

func (l opLog) undone(s int) bool {
	for i := s + 1; i < len(l); i++ {
		if l[i].back == s && !l.undone(i) {
			return true
		}
	}
	return false
}

// stands tells whether an operation after s is one of those that stand.
func (l opLog) stands(i, s int) bool { return !l.undone(i) && l[i].back <= s }

func (l opLog) newestUndoable() int {
	for s := l.last(); s > 1; s-- {
		if l[s].back == 0 && len(l.changes(s)) > 0 && !l.undone(s) {
			return s
		}
	}
	return 0
}

func (l opLog) newestUndo() int {
	for s := l.last(); s > 1; s-- {
		if l[s].back != 0 && !l[s].redo && !l.undone(s) {
			return s
		}
	}
	return 0
}

// undo is clause 15.6; the object is the refusal, nil where there is none.
func (l opLog) undo(s int, now int64) (opLog, obj) {
	if s == 0 || len(l.changes(s)) == 0 || l.undone(s) {
		return l, obj{"error": "nothing"}
	}
	mine := map[string]bool{}
	next := refs{}
	for name, v := range l[l.last()].refs {
		next[name] = v
	}
	for _, name := range l.changes(s) {
		mine[name] = true
		delete(next, name)
		if v, ok := l[s-1].refs[name]; ok {
			next[name] = v
		}
	}
	for i := l.last(); i > s; i-- {
		if !l.stands(i, s) {
			continue
		}
		for _, name := range l.changes(i) {
			if mine[name] {
				return l, obj{"error": "conflict", "by": i, "ref": name}
			}
		}
	}
	redo := l[s].back != 0 && !l[s].redo
	return l.add(opState{refs: next, time: now, back: s, redo: redo}), nil
}

// restore is clause 15.7.
func (l opLog) restore(s int, now int64) opLog {
	next := refs{}
	for name, v := range l[s].refs {
		if !strings.HasPrefix(name, "refs/sessions/") {
			next[name] = v
		}
	}
	for name, v := range l[l.last()].refs {
		if strings.HasPrefix(name, "refs/sessions/") {
			next[name] = v
		}
	}
	return l.add(opState{refs: next, time: now})
}

// at is the operation that clause 15.3 finds for a time, 0 for none.
func (l opLog) at(t int64) int {
	s := l.last()
	for s > 0 && l[s].time > t {
		skip := s & (s - 1)
		if skip != 0 && skip != s-1 && l[skip].time > t {
			s = skip
		} else {
			s--
		}
	}
	return s
}

// leadsTo follows a ref in the view of an operation, "" where it leads nowhere.
func (l opLog) leadsTo(s int, name string) string {
	v := l[s].refs[name]
	if strings.HasPrefix(v, "refs/") {
		v = l[s].refs[v]
	}
	return v
}

// revisions reads revisions over a log and the commits and tags of a store.
type revisions struct {
	log     opLog
	parents map[string][]string // by the text of a commit's CID
	tags    map[string]string   // target by the text of a tag's CID
}

// class is a refusal, as the vectors name it.
type class string

const (
	notFound  class = "not_found"
	ambiguous class = "ambiguous"
	invalid   class = "invalid"
)

var (
	revShape  = regexp.MustCompile(`^([^~^{}]*@\{[^{}]*\}|[^~^{}]+)((?:~\d*|\^\d*|\^\{\})*)$`)
	pastShape = regexp.MustCompile(`^(.*?)@\{([^{}]*)\}$`)
	stepShape = regexp.MustCompile(`~\d*|\^\{\}|\^\d*`)
	cidShape  = regexp.MustCompile(`^bafyrei[a-z2-7]{52}$`)
	digits    = regexp.MustCompile(`^\d+$`)
	// importedShape is a name that with refs/ before it is that of a ref of an import.
	importedShape = regexp.MustCompile(`^imported/[^/]+/(heads|tags|sessions|objects)/.`)

	badName = regexp.MustCompile(`^$|^-|\.\.|[ :?*\[\\]|^@$`)
)

// resolve is clause 15.3.
func (r *revisions) resolve(rev string) (string, class) {
	m := revShape.FindStringSubmatch(rev)
	if m == nil {
		return "", invalid
	}
	c, no := r.base(m[1])
	if no != "" {
		return "", no
	}
	for _, step := range stepShape.FindAllString(m[2], -1) {
		n := 1
		if digits.MatchString(step[1:]) {
			n, _ = strconv.Atoi(step[1:])
		}
		switch {
		case step == "^{}" || n == 0:
		case step[0] == '^':
			if c, no = r.parent(c, n); no != "" {
				return "", no
			}
		default:
			for range n {
				if c, no = r.parent(c, 1); no != "" {
					return "", no
				}
			}
		}
	}
	return c, ""
}

func (r *revisions) parent(c string, n int) (string, class) {
	if n > len(r.parents[c]) {
		return "", notFound
	}
	return r.parents[c][n-1], ""
}

// peel is a commit that a CID is, or leads to as a tag.
func (r *revisions) peel(c string) (string, class) {
	if target, ok := r.tags[c]; ok {
		c = target
	}
	if _, ok := r.parents[c]; !ok {
		return "", notFound
	}
	return c, ""
}

func (r *revisions) base(name string) (string, class) {
	now := r.log.last()
	if m := pastShape.FindStringSubmatch(name); m != nil {
		return r.past(m[1], m[2])
	}
	if op, ok := strings.CutPrefix(name, "op:"); ok {
		return r.past("HEAD", "op:"+op)
	}
	for _, ref := range candidates(name) {
		if c := r.log.leadsTo(now, ref); c != "" {
			return r.peel(c)
		}
		if ref == "HEAD" {
			return "", notFound
		}
	}
	if cidShape.MatchString(name) {
		return r.peel(name)
	}
	return r.prefix(name)
}

func candidates(name string) []string {
	switch {
	case name == "@" || name == "HEAD":
		return []string{"HEAD"}
	case strings.HasPrefix(name, "refs/"):
		return []string{name}
	}
	all := []string{"refs/heads/" + name, "refs/tags/" + name}
	if importedShape.MatchString(name) {
		all = append(all, "refs/"+name)
	}
	return all
}

func (r *revisions) prefix(name string) (string, class) {
	name = strings.TrimPrefix(name, "bafyrei")
	found := ""
	for c := range r.parents {
		if len(name) < 4 || !strings.HasPrefix(c, "bafyrei"+name) {
			continue
		}
		if found != "" {
			return "", ambiguous
		}
		found = c
	}
	if found == "" {
		return "", notFound
	}
	return found, ""
}

// past is NAME@{when}.
func (r *revisions) past(name, when string) (string, class) {
	now := r.log.last()
	ref := "HEAD"
	if name == "" {
		if on := r.log[now].refs["HEAD"]; strings.HasPrefix(on, "refs/") {
			ref = on
		}
	} else {
		all := candidates(name)
		if badName.MatchString(name) && name != "@" {
			return "", invalid
		}
		ref = all[0]
		for i := len(all) - 1; i >= 0; i-- {
			if _, there := r.log[now].refs[all[i]]; there {
				ref = all[i]
			}
		}
	}
	s := 0
	switch op, isOp := strings.CutPrefix(when, "op:"); {
	case isOp:
		var no class
		if s, no = r.operation(op); no != "" {
			return "", no
		}
	case digits.MatchString(when):
		n, _ := strconv.Atoi(when)
		if s = r.movesAgo(ref, n); s < 0 {
			return "", notFound
		}
	default:
		t, ok := moment(when)
		if !ok {
			return "", invalid
		}
		s = r.log.at(t)
	}
	c := r.log.leadsTo(s, ref)
	if c == "" {
		return "", notFound
	}
	return r.peel(c)
}

// movesAgo is the operation before the n-th newest move of a ref, -1 for none.
func (r *revisions) movesAgo(ref string, n int) int {
	s := r.log.last()
	for ; n > 0; s-- {
		if s == 0 {
			return -1
		}
		if r.log.leadsTo(s, ref) != r.log.leadsTo(s-1, ref) {
			n--
		}
	}
	return s
}

// operation is an operation's name; the vectors name them by number alone.
func (r *revisions) operation(name string) (int, class) {
	name = strings.TrimPrefix(name, "op:")
	base, back, stepped := strings.Cut(name, "~")
	s := r.log.last()
	if base != "@" {
		if !digits.MatchString(base) {
			return 0, notFound
		}
		s, _ = strconv.Atoi(base)
	}
	if n := 1; stepped {
		if back != "" {
			var err error
			if n, err = strconv.Atoi(back); err != nil {
				return 0, invalid
			}
		}
		s -= n
	}
	if s < 1 || s > r.log.last() {
		return 0, notFound
	}
	return s, ""
}

// moment is TIME of clause 15.3.
func moment(text string) (int64, bool) {
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00",
		"2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}
