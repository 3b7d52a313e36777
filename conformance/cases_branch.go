package main

// branchCase adds a case of one verb upon refs; want is the refs after it, nil for a refusal.
func (w *revWorld) branchCase(s *suite, name, title, class string, verb obj, want refs) {
	in := obj{"blocks": w.blocks, "operations": w.ops}
	for member, value := range verb {
		in[member] = value
	}
	if class != "" {
		s.refuse("15.4", "branch", "bad-"+name, title, class, in)
		return
	}
	s.add("15.4", "branch", name, title, in, obj{"refs": want})
}

// stageFor adds the record of a stage for a branch.
func (w *revWorld) stageFor(branch, base string) string {
	rec := dict{"kind": "stage", "v": 1, "base": linkOf(base), "branch": branch,
		"graph": recordCID(newStore().graphRecord())}
	w.blocks = append(w.blocks, hx(encode(rec)))
	return recordCID(rec).String()
}

func branchCases(s *suite) {
	const main, side, far = "refs/heads/main", "refs/heads/side", "refs/heads/far"
	w := newRevWorld()
	a := w.commit("a")
	b, c := w.commit("b", a), w.commit("c", a)
	stage, other := w.stageFor(main, b), w.stageFor("refs/heads/a/b", b)
	w.op(0, "HEAD", main, main, b, side, c, far, a, "refs/heads/a/b", b,
		"refs/stage/main", stage, "refs/stage/other", other)
	now := w.log[w.log.last()].refs
	after := func(pairs ...string) refs {
		out := refs{}
		for name, v := range now {
			out[name] = v
		}
		for name, v := range set(pairs...).set {
			if out[name] = v; v == "" {
				delete(out, name)
			}
		}
		return out
	}
	rename := func(from, to string) obj { return obj{"rename": from, "to": to} }
	remove := func(name string, force bool) obj { return obj{"remove": name, "force": force} }
	create := func(name, rev string) obj { return obj{"create": name, "rev": rev} }
	w.branchCase(s, "create", "a branch at a revision", "", create("x/y", "main~1"),
		after("refs/heads/x/y", a))
	w.branchCase(s, "create-there", "a branch that exists", "exists", create("side", "main"), nil)
	w.branchCase(s, "create-cid", "a name that is the text of a CID", "name", create(a, "main"), nil)
	w.branchCase(s, "create-raw", "a name that is the text of a raw block's CID", "name",
		create(cidOf(codecRaw, nil).String(), "main"), nil)
	w.branchCase(s, "create-lock", "a name that ends with .lock", "name", create("a.lock", "main"), nil)
	w.branchCase(s, "create-space", "a name with a space", "name", create("a b", "main"), nil)
	w.branchCase(s, "create-nowhere", "a revision that is not there", "not_found",
		create("x", "nowhere"), nil)
	moved := newRevWorld().stageFor("refs/heads/new", b)
	w.branchCase(s, "rename-current", "HEAD and the stages of a branch follow it", "",
		rename("main", "new"), after("HEAD", "refs/heads/new", main, "", "refs/heads/new", b,
			"refs/stage/main", moved))
	w.branchCase(s, "rename-other", "another branch is renamed", "", rename("side", "new"),
		after(side, "", "refs/heads/new", c))
	w.branchCase(s, "rename-there", "to a name that is taken", "exists", rename("side", "far"), nil)
	w.branchCase(s, "rename-nobody", "a branch that is not there", "not_found",
		rename("nobody", "new"), nil)
	w.branchCase(s, "remove-merged", "another branch reaches its commit", "", remove("far", false),
		after(far, ""))
	w.branchCase(s, "remove-unmerged", "nothing else reaches its commit", "used",
		remove("side", false), nil)
	w.branchCase(s, "remove-forced", "nothing else reaches its commit, but it is forced", "",
		remove("side", true), after(side, ""))
	w.branchCase(s, "remove-current", "the branch HEAD is on", "used", remove("main", true), nil)
	w.branchCase(s, "remove-staged", "a stage names it", "used", remove("a/b", false), nil)
	w.branchCase(s, "remove-staged-forced", "a stage names it, but it is forced", "",
		remove("a/b", true), after("refs/heads/a/b", ""))
	tagged := newRevWorld()
	x := tagged.commit("x")
	tagged.op(0, "HEAD", main, side, x, "refs/tags/v1", tagged.tag("v1", x))
	tagged.branchCase(s, "remove-tagged", "a tag leads to its commit", "", remove("side", false),
		refs{"HEAD": main, "refs/tags/v1": tagged.log[1].refs["refs/tags/v1"]})
}
