package main

import "fmt"

// revWorld is a history, a log over it, and what is asked.
type revWorld struct {
	revisions
	blocks []string
	ops    []obj
}

func newRevWorld() *revWorld {
	return &revWorld{revisions: revisions{log: newOpLog(), parents: map[string][]string{},
		tags: map[string]string{}}}
}

// commit adds a commit and returns the text of its CID.
func (w *revWorld) commit(message string, parents ...string) string {
	links, height := []any{}, 1
	for _, p := range parents {
		links = append(links, linkOf(p))
		height = max(height, 1+w.height(p))
	}
	rec := baseCommit(dict{"parents": links, "height": height, "message": message})
	w.blocks = append(w.blocks, hx(encode(rec)))
	c := recordCID(rec).String()
	w.parents[c] = parents
	return c
}

// linkOf is the link of a CID's text.
func linkOf(text string) link {
	b, err := base32Lower.DecodeString(text[1:])
	if err != nil {
		panic(err)
	}
	return link(b)
}

func (w *revWorld) height(c string) int {
	h := 0
	for _, p := range w.parents[c] {
		h = max(h, w.height(p))
	}
	return h + 1
}

func (w *revWorld) tag(name, target string) string {
	rec := dict{"kind": "tag", "v": 1, "target": linkOf(target), "name": name, "tagger": "erin",
		"time": t0, "message": ""}
	w.blocks = append(w.blocks, hx(encode(rec)))
	c := recordCID(rec).String()
	w.tags[c] = target
	return c
}

// op adds an operation at a number of minutes after t0.
func (w *revWorld) op(minute int, pairs ...string) {
	after := refs{}
	for name, v := range w.log[w.log.last()].refs {
		after[name] = v
	}
	for name, v := range set(pairs...).set {
		if after[name] = v; v == "" {
			delete(after, name)
		}
	}
	when := t0 + int64(minute)*60_000_000
	w.log = append(w.log, opState{refs: after, time: when})
	w.ops = append(w.ops, obj{"time": when, "refs": after})
}

func (w *revWorld) add(s *suite, clause, name, title string, revs ...string) {
	answers := []string{}
	for _, rev := range revs {
		c, no := w.resolve(rev)
		if no != "" {
			c = string(no)
		}
		answers = append(answers, c)
	}
	s.add(clause, "revision", name, title,
		obj{"blocks": w.blocks, "operations": w.ops, "revisions": revs}, obj{"commits": answers})
}

func revisionCases(s *suite) {
	const main, side = "refs/heads/main", "refs/heads/side"
	w := newRevWorld()
	a := w.commit("a")
	b, c := w.commit("b", a), w.commit("c", a)
	m := w.commit("m", b, c)
	t := w.tag("v2", b)
	w.op(0, "HEAD", main)
	w.op(1, main, a)
	w.op(2, main, b, side, a)
	w.op(3, side, c, "refs/tags/v1", a, "refs/tags/v2", t)
	w.op(4, main, m)
	w.op(5, "refs/tags/side", a, "refs/sessions/s", someCID(9))
	w.op(6, side, "")
	w.add(s, "15.3", "names", "refs, tags, CIDs and steps", "HEAD", "@", "main", main, "v1", "v2",
		"refs/tags/v2", "side", side, m, b, t, m[:20], m[7:20], m[7:11], m[7:10], someCID(1), "main~",
		"main~1", "main~2", "main~3", "main~0", "main^", "main^1", "main^2", "main^3", "main^0",
		"main^2~1", "main~1^", "main~~", "main^^", "v2^{}", "v2^{}~1", "main^{}^2", "main^{x}", "main^-1",
		"main~x", "", "nobody", "refs/heads/nobody", "~1", "HEAD~1^2", "main~99999999999999999999")
	w.add(s, "15.3", "past", "where a ref was", "main@{0}", "main@{1}", "main@{2}", "main@{3}",
		"main@{99}", "@{1}", "HEAD@{1}", "@@{1}", "HEAD@{0}", main+"@{1}", side+"@{0}", side+"@{1}",
		side+"@{2}", side+"@{3}", "side@{0}", "side@{1}", "nobody@{0}", "nobody@{1}", "main@{1}~1",
		"main@{0}^2", "main@{1", "main@{1}x", "main@{}", "main@{-1}", "a..b@{1}", "main@{op:2}",
		"main@{op:3}", "side@{op:4}", side+"@{op:3}", "main@{op:0}", "main@{op:8}", "main@{op:@}",
		"main@{op:@~3}", "main@{op:4~1}", "op:2", "op:4", "op:1", "op:@", "op:4~1", "op:nobody")
	w.add(s, "15.3", "times", "where a ref was at a time", "main@{2026-01-01}",
		"main@{2026-01-01T00:00Z}", "main@{2026-01-01T00:01Z}", "main@{2026-01-01T00:01:59Z}",
		"main@{2026-01-01T00:02:00Z}", "main@{2026-01-01T01:03+01:00}", "main@{2025-12-31}",
		"main@{2026-01-02}", "@{2026-01-01T00:02:30.5Z}", "main@{2026-01-01 00:02}", "main@{yesterday}",
		"main@{2026-01-01T00:02}", "main@{2026-01-01T00:04Z}~1", "HEAD@{2026-01-01T00:00:30Z}")
	brought := newRevWorld()
	ours, theirs := brought.commit("ours"), brought.commit("theirs")
	const tip = "imported/desk/heads/main"
	brought.op(0, "HEAD", main, main, ours)
	brought.op(1, "refs/"+tip, ours, "refs/imported/desk/tags/x/y", ours)
	brought.op(2, "refs/"+tip, theirs)
	brought.op(3, "refs/heads/imported/desk/tags/x/y", theirs)
	brought.add(s, "15.3", "imported", "refs of an import without refs/", tip, tip+"~0", "refs/"+tip,
		tip+"@{0}", tip+"@{1}", tip+"@{op:1}", "imported/desk/tags/x/y", "imported/desk/heads/nobody",
		"imported/desk/main", "imported/desk", "desk/heads/main", "imported/other/heads/main")
	back := newRevWorld()
	x := []string{}
	for i, minute := range []int{0, 10, 20, 5, 30, 1, 2, 40, 3, 50, 60, 15, 70, 6, 80, 90} {
		x = append(x, back.commit(fmt.Sprint(i)))
		back.op(minute, "HEAD", main, main, x[i])
	}
	var revs []string
	for minute := range 20 {
		revs = append(revs, fmt.Sprintf("main@{2026-01-01T00:%02dZ}", minute*3))
	}
	back.add(s, "15.3", "backwards", "times where clocks ran backwards", revs...)
	same := newRevWorld()
	one, two := same.twins()
	same.op(0, "HEAD", one)
	same.add(s, "15.2", "detached", "HEAD at a commit, and a prefix of two", "HEAD", "@{0}", "@{1}",
		one[7:11], two[:11], one[7:15], two[7:15])
}

// twins adds two commits whose CIDs have the same first digits.
func (w *revWorld) twins() (string, string) {
	seen := map[string]int{}
	for i := 0; ; i++ {
		c := recordCID(baseCommit(dict{"message": fmt.Sprint(i)})).String()
		if j, ok := seen[c[7:11]]; ok {
			return w.commit(fmt.Sprint(j)), w.commit(fmt.Sprint(i))
		}
		seen[c[7:11]] = i
	}
}
