package main

import "fmt"

// pastCase adds a case about what happened to alice.
func (s *suite) pastCase(clause, name, title string, list []pastCommit) {
	p, err := makePast(list)
	if err != nil {
		s.err = fmt.Errorf("blame/%s: %w", name, err)
		return
	}
	id := nodeIDOfKey("alice")
	blocks, commits := []string{}, []string{}
	for _, c := range sortedKeys(p.blocks) {
		blocks = append(blocks, hx(p.blocks[c]))
	}
	touched := []int{}
	for i, rec := range p.commits {
		commits = append(commits, recordCID(rec).String())
		if p.touches(i, id) {
			touched = append(touched, i)
		}
	}
	last := len(list) - 1
	s.add(clause, "blame", name, title, obj{"blocks": blocks, "commits": commits, "node": hx(id)},
		obj{"fields": p.blame(last, id), "touches": touched})
}

// alice is a line for the node that the cases are about.
func alice(rest string) string {
	return `{"node":{"key":"alice","type":"Person"` + rest + `}}`
}

func blameCases(s *suite) {
	const bob = `{"node":{"key":"bob","type":"Person"}}`
	met := func(rest string) string {
		return `{"edge":{"type":"met","src":"alice","dst":"bob"` + rest + `}}`
	}
	line := func(parents []int, author string, lines ...string) pastCommit {
		return pastCommit{parents: parents, author: author, lines: lines}
	}
	s.pastCase("16.1", "first", "one commit has set everything", []pastCommit{
		{author: "ada", agent: "bot", lines: []string{alice(`,"summary":"A","props":{"b":1,"aa":2}`)}},
	})
	s.pastCase("16.1", "line", "each field goes back as far as it stays", []pastCommit{
		line(nil, "ada", alice(`,"summary":"A","props":{"team":"x"}`)),
		line([]int{0}, "ben", alice(`,"summary":"B","props":{"team":"x"}`)),
		line([]int{1}, "cleo", alice(`,"summary":"B","props":{"team":"y"}`), bob),
		line([]int{2}, "dan", alice(`,"summary":"A","props":{"team":"y"}`), bob),
	})
	s.pastCase("16.1", "again", "a node that was gone begins anew", []pastCommit{
		line(nil, "ada", alice("")), line([]int{0}, "ben", bob),
		line([]int{1}, "cleo", alice(""), bob),
	})
	s.pastCase("16.1", "merge", "a merge passes each field on to the first parent that has it",
		[]pastCommit{
			line(nil, "ada", alice(`,"summary":"A","props":{"x":1,"y":1,"z":1}`)),
			line([]int{0}, "ben", alice(`,"summary":"A","props":{"x":2,"y":1,"z":2}`)),
			line([]int{0}, "cleo", alice(`,"summary":"A","props":{"x":1,"y":2,"z":2}`)),
			line([]int{1, 2}, "dan", alice(`,"summary":"M","props":{"x":2,"y":2,"z":2}`)),
		})
	s.pastCase("16.1", "first-parent", "the first parent that has a value wins, not the newest",
		[]pastCommit{
			line(nil, "ada", bob),
			line([]int{0}, "ben", alice(`,"props":{"x":1}`), bob),
			line([]int{0}, "cleo", alice(`,"props":{"x":1}`), bob),
			line([]int{2, 1}, "dan", alice(`,"props":{"x":1}`), bob),
		})
	s.pastCase("16.1", "mark", "a mark is a field; order of fields", []pastCommit{
		line(nil, "ada", alice(`,"validFrom":"2026-01-01","sources":["s"],"props":{"b":1,"aa":1}`)),
		line([]int{0}, "ben", alice(`,"validFrom":"2026-01-01","sources":["s"],"props":{"b":1,"aa":1}`),
			`{"mark":{"node":"alice","state":"stale"}}`),
	})
	s.pastCase("16.2", "edges", "an edge, its fields, its weight and its mark touch both ends",
		[]pastCommit{
			line(nil, "ada", alice(""), bob),
			line([]int{0}, "ben", alice(""), bob, met("")),
			line([]int{1}, "cleo", alice(""), bob, met(`,"props":{"times":2}`)),
			line([]int{2}, "cleo", alice(""), `{"node":{"key":"bob","type":"Place"}}`,
				met(`,"props":{"times":2}`)),
			line([]int{3}, "dan", alice(""), bob, met(`,"weight":0.5,"props":{"times":2}`)),
			line([]int{4}, "dan", alice(""), bob, met(`,"weight":0.5,"props":{"times":2}`),
				`{"mark":{"edge":{"type":"met","src":"alice","dst":"bob"},"state":"stale"}}`),
			line([]int{5}, "erin", alice(""), bob),
		})
	s.pastCase("16.2", "merge-side", "a merge that took one side as it was touches nothing",
		[]pastCommit{
			line(nil, "ada", alice("")), line([]int{0}, "ben", alice(`,"summary":"B"`)),
			line([]int{0}, "cleo", alice(""), bob), line([]int{1, 2}, "dan", alice(`,"summary":"B"`), bob),
		})
	randomPasts(s)
}

// randomPasts are histories with merges whose memories are drawn from few values.
func randomPasts(s *suite) {
	for n := range 4 {
		seed := rng(4000 + n)
		r := &seed
		var list []pastCommit
		for i := range 9 {
			c := pastCommit{author: string(rune('a' + i)), lines: []string{
				`{"node":{"key":"bob","type":"Person"}}`}}
			if i > 0 {
				c.parents = []int{max(0, i-1-r.below(3))}
			}
			if other := r.below(i + 1); i > 2 && other != i && other != c.parents[0] {
				c.parents = append(c.parents, other)
			}
			if r.below(8) > 0 || i == 8 {
				c.lines = append(c.lines, alice(fmt.Sprintf(`,"summary":"%d","props":{"x":%d,"y":%d}`,
					r.below(3), r.below(2), r.below(2))))
				if r.below(2) == 0 {
					c.lines = append(c.lines, fmt.Sprintf(
						`{"edge":{"type":"met","src":"bob","dst":"alice","props":{"n":%d}}}`, r.below(2)))
				}
			}
			list = append(list, c)
		}
		s.pastCase("16.1", fmt.Sprintf("random-%d", n), "a random history", list)
	}
}
