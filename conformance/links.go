package main

import (
	"sort"
	"strings"
)

// told is a memory that is remembered, told without looking for what is like it.
type told struct {
	text, about             string
	sources, tags, entities []string

	id          string
	created     int64
	agent, task string
}

func (m told) input() obj {
	o := obj{"text": m.text, "sources": m.sources, "tags": m.tags, "entities": m.entities}
	if m.about != "" {
		o["about"] = m.about
	}
	return o
}

// chronicle is a memory that grows.
type chronicle struct {
	commits  [][]told          // newest last
	added    []int             // nodes that each added
	entities map[string]string // summary of each node of an entity or tag, by key
	pending  map[string]string // of those that the commit being made makes
	order    []string          // of pending
	current  []told
}

// recent25 are the recent memories, the newest first, of commits that fit.
func (c *chronicle) recent25(d told, fits func(m told) bool) []told {
	var all []told
	for i := len(c.current) - 1; i >= max(0, len(c.current)-256); i-- {
		all = append(all, c.current[i])
	}
	nodes := 0
	for i := len(c.commits) - 1; i >= 0 && len(c.commits)-i <= 32 && nodes < 256; i-- {
		of := append([]told{}, c.commits[i]...)
		if len(of) == 0 || !fits(of[0]) { // one commit's memories have its time, agent and task
			continue
		}
		sort.SliceStable(of, func(i, j int) bool {
			a, b := of[i], of[j]
			return a.created > b.created || a.created == b.created && a.id < b.id
		})
		all = append(all, of...)
		nodes += c.added[i]
	}
	var kept []told
	for _, m := range all {
		if m.created <= d.created && m.id != d.id {
			kept = append(kept, m)
		}
	}
	return kept
}

func sameSource(d, m told) bool {
	for _, s := range d.sources {
		if has(m.sources, s) {
			return true
		}
	}
	switch {
	case len(d.sources) > 0:
		return false
	case d.task != "":
		return d.task == m.task && d.agent == m.agent
	}
	return d.agent != "" && d.agent == m.agent && m.task == ""
}

func termsOf25(s string) map[string]bool {
	set := map[string]bool{}
	for _, t := range analyse(s, "en") {
		set[t] = true
	}
	return set
}

func common25(a, b map[string]bool) int {
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// causal25 is the relation between d and a memory, and whether the memory is the cause.
func causal25(d, m told) (relation string, first bool) {
	terms := termsOf25(m.text)
	if similarity(termsOf25(d.text), terms) < 9830 {
		return "", false
	}
	best := 0
	for _, g := range signals25(d.text) {
		cause, effect := termsOf25(g.cause), termsOf25(g.effect)
		a, b := common25(cause, terms), common25(effect, terms)
		if len(cause) == 0 {
			a, b = max(1, a+b), 0
		} else if len(effect) == 0 {
			a, b = 0, max(1, a+b)
		}
		if max(a, b) > best {
			best, relation, first = max(a, b), g.relation, a >= b
		}
	}
	return relation, first
}

// edgesOf are the edges of a memory, which it then has.
func (c *chronicle) edgesOf(d told) []any {
	out := []any{}
	add := func(typ, src, dst string, weight int64) {
		out = append(out, obj{"type": typ, "src": uuid(src), "dst": uuid(dst), "weight": weight})
	}
	if d.about = c.subject(d.about); d.about != "" {
		add("about", d.id, nodeIDOfKey(d.about), one)
	}
	var before *told
	for _, m := range c.recent25(d, func(m told) bool {
		return len(d.sources) > 0 || sameSource(d, m)
	}) {
		if sameSource(d, m) {
			before = &m
			break
		}
	}
	if before != nil {
		add("follows", d.id, before.id, one)
	}
	near := 0
	const day = 24 * 3_600_000_000
	for _, m := range c.recent25(d, func(m told) bool { return d.created-m.created <= day }) {
		hours := (d.created - m.created) / 3_600_000_000
		if near < 2 && d.created-m.created <= day && (before == nil || m.id != before.id) {
			near++
			add("near", d.id, m.id, one/(1+hours))
		}
	}
	if d.about != "" {
		c.name(d.about, strings.TrimPrefix(d.about, "entity/"))
	}
	for _, key := range c.mentions(d) {
		add("mentions", d.id, nodeIDOfKey(key), one)
	}
	done := map[string]bool{}
	for _, t := range d.tags {
		if key := "tag/" + keyOfName(t); !done[key] {
			done[key] = true
			c.name(key, t)
			add("tagged", d.id, nodeIDOfKey(key), one)
		}
	}
	if before != nil {
		if relation, first := causal25(d, *before); relation != "" && first {
			add(relation, before.id, d.id, one)
		} else if relation != "" {
			add(relation, d.id, before.id, one)
		}
	}
	c.current = append(c.current, d)
	return out
}

// name makes a node of an entity or tag, unless it is there.
func (c *chronicle) name(key, summary string) {
	_, old := c.entities[key]
	if _, made := c.pending[key]; !old && !made {
		c.pending[key] = strings.Join(strings.Fields(summary), " ")
		c.order = append(c.order, key)
	}
}

// node is the key of the entity of a name, and whether an earlier commit made it.
func (c *chronicle) node(name string) (key string, there bool) {
	bare := keyOfName(name)
	key = "entity/" + bare
	if c.entities[key] != "" {
		return key, true
	}
	if c.entities[bare] != "" && !strings.HasPrefix(bare, "tag/") {
		return bare, true
	}
	var called []string
	for k, summary := range c.entities {
		if !strings.HasPrefix(k, "tag/") && keyOfName(summary) == bare {
			called = append(called, k)
		}
	}
	if len(called) == 1 {
		return called[0], true
	}
	for _, k := range c.order {
		if summary := c.pending[k]; !strings.HasPrefix(k, "tag/") &&
			(keyOfName(k) == bare || keyOfName(summary) == bare) {
			return k, false
		}
	}
	return key, false
}

// subject is the key of the node that a memory is about.
func (c *chronicle) subject(about string) string {
	if about == "" || c.entities[about] != "" || c.pending[about] != "" {
		return about
	}
	name := strings.TrimPrefix(about, "entity/")
	if name == "" {
		name = about
	}
	key, there := c.node(name)
	if there || c.pending[key] != "" {
		return key
	}
	return about
}

// mentions are the keys of what a memory mentions. Of what its own commit makes no name is known.
func (c *chronicle) mentions(d told) []string {
	var keys []string
	done := map[string]bool{}
	if d.about != "" {
		done[d.about], done["entity/"+keyOfName(d.about)] = true, true
		if summary := c.entities[d.about]; summary != "" {
			done["entity/"+keyOfName(summary)] = true
		}
	}
	add := func(name string) {
		k := "entity/" + keyOfName(name)
		if done[k] {
			return
		}
		done[k] = true
		if key, _ := c.node(name); !has(keys, key) {
			keys = append(keys, key)
			c.name(key, name)
		}
	}
	var known []string
	for key, summary := range c.entities {
		if !strings.HasPrefix(key, "tag/") && hasTitle(d.text, titleOf(summary)) >= 0 {
			known = append(known, summary)
		}
	}
	sort.Strings(known)
	for _, e := range d.entities {
		add(e)
	}
	var old, fresh []string
	for _, e := range entities25(d.text, known) {
		switch key := "entity/" + e.key; {
		case e.kind == "date" || e.kind == "version" || done[key]:
		case c.there(e.name):
			old = append(old, e.name)
		default:
			fresh = append(fresh, e.name)
		}
	}
	found := append(old, fresh...)
	for _, name := range found[:min(len(found), 8)] {
		add(name)
	}
	return keys
}

func (c *chronicle) there(name string) bool {
	_, there := c.node(name)
	return there
}

// commit ends a commit.
func (c *chronicle) commit() {
	c.commits = append(c.commits, c.current)
	c.added = append(c.added, len(c.current)+len(c.pending))
	for key, summary := range c.pending {
		c.entities[key] = summary
	}
	c.current, c.order, c.pending = nil, nil, map[string]string{}
}

// commitOf is one commit of a case.
type commitOf struct {
	hours       int64
	agent, task string
	memories    []told
}

func (s *suite) links(name, title string, commits ...commitOf) {
	c := &chronicle{entities: map[string]string{}, pending: map[string]string{}}
	in, edges := []any{}, []any{}
	for _, k := range commits {
		list := []any{}
		for _, m := range k.memories {
			m.id, m.created = rawMemoryID("fact", m.text, 0), t0+k.hours*3_600_000_000
			m.agent, m.task = k.agent, k.task
			sort.Strings(m.tags)
			sort.Strings(m.entities)
			list = append(list, m.input())
			edges = append(edges, c.edgesOf(m))
		}
		c.commit()
		in = append(in, obj{"time": t0 + k.hours*3_600_000_000, "agent": k.agent, "task": k.task,
			"memories": list})
	}
	s.add("25.4", "links", name, title, obj{"commits": in}, obj{"edges": edges})
}

func linkCases(s *suite) {
	from := func(source, text string) told { return told{text: text, sources: []string{source}} }
	s.links("story", "a story of two conversations",
		commitOf{0, "", "", []told{from("conversation:1", "The cache server of billing ran out of memory.")}},
		commitOf{2, "", "", []told{from("conversation:2", "Alice Ng restarted the gateway in Lyon.")}},
		commitOf{5, "", "", []told{{text: "The billing site went down because the cache server ran out of memory.",
			sources: []string{"conversation:1"}, tags: []string{"outage", "Outage", "ops team"},
			entities: []string{"Billing", "The  Site"}}}},
		commitOf{30, "", "", []told{from("conversation:1",
			"Therefore we moved the billing cache of Alice Ng to Redis, as the site went down.")}},
		commitOf{31, "", "", []told{from("conversation:1", "The standby site prevents that billing went down on 3 May 2024 in v1.2.3.")}})
	s.links("batch", "memories of one commit follow each other", commitOf{0, "", "", []told{
		from("s", "One was first."), from("s", "Two came then."), from("t", "Three is of Tom Sawyer."),
		from("s", "Four tells of Tom Sawyer too."), {text: "Five has no source."}}},
		commitOf{0, "", "", []told{from("s", "Six is of Tom Sawyer as well."), from("u", "Seven.")}},
		commitOf{23, "", "", []told{from("v", "Eight.")}}, commitOf{24, "", "", []told{from("v", "Nine.")}},
		commitOf{25, "", "", []told{from("w", "Ten.")}}, commitOf{49, "", "", []told{from("x", "Eleven.")}},
		commitOf{74, "", "", []told{from("x", "Twelve.")}}, commitOf{10, "", "", []told{from("x", "Thirteen.")}})
	s.links("tasks", "agents and tasks are sources where there is none",
		commitOf{0, "robot", "t1", []told{{text: "Alpha."}}}, commitOf{30, "robot", "", []told{{text: "Beta."}}},
		commitOf{60, "robot", "t1", []told{{text: "Gamma."}}}, commitOf{90, "robot", "", []told{{text: "Delta."}}},
		commitOf{120, "human", "t1", []told{{text: "Epsilon."}}}, commitOf{150, "", "", []told{{text: "Zeta."}}},
		commitOf{180, "robot", "t1", []told{from("s", "Eta.")}}, commitOf{210, "robot", "t1", []told{{text: "Theta."}}})
	causes := []string{"因为缓存服务器内存不足。", "缓存服务器内存不足，导致网站停机。", "A full moon rose, so 网站停机 came, 缓存服务器.",
		"The archive disk was full of letters.", "The archive site broke because the archive disk was full of letters.",
		"A storm made the archive site break, so the archive disk was lost.", "This caused letters to be lost from the archive site.",
		"Compression allows that the archive keeps letters.", "It does not cause the archive to keep letters.",
		"Thanks to the archive, which keeps letters, and due to a storm, letters were kept.", "Letters of an archive, hence a storm of letters."}
	var told25 []commitOf
	for i, t := range causes {
		told25 = append(told25, commitOf{int64(30 * i), "", "", []told{from("s", t)}})
	}
	s.links("causes", "from cause to effect", told25...)
	var many []commitOf
	for i := range 36 {
		many = append(many, commitOf{int64(26 * i), "", "", []told{from("s"+itoa(i%34), "Note "+itoa(i)+".")}})
	}
	s.links("window", "32 commits are looked at", many...)
	s.links("names", "at most 8 names, those that are known first",
		commitOf{0, "", "", []told{{text: "A list.", entities: []string{"Zoe Zett", "yak", "李小明"}}}},
		commitOf{1, "", "", []told{{text: "With Ann Ash, Bob Birch, Cat Cedar, Dan Date, Eve Elm, Fay Fir, Gus Gum, " +
			"Hal Hazel and Zoe Zett we saw a yak. 李小明来了。", entities: []string{"Ann Ash", "Nobody"}}}})
	s.links("called", "a subject and a mention of one name are one node", commitOf{0, "", "", []told{
		{text: "The desk is hers.", about: "carol cole"}, {text: "Carol Cole moved in.", entities: []string{"carol cole"}},
		{text: "We saw Dan Date there.", about: "svc/desk"}, {text: "It rang.", about: "Dan Date"},
	}}, commitOf{1, "", "", []told{
		{text: "On Monday Carol Cole met Dan Date.", entities: []string{"svc/desk"}},
		{text: "It is green.", about: "Carol Cole"}, {text: "It is blue.", about: "dan date"},
		{text: "It is red.", about: "entity/carol cole"},
	}})
	s.links("subjects", "what a memory is about is not mentioned", commitOf{0, "", "", []told{
		{text: "Carol Cole met Dan Date.", about: "Carol Cole", entities: []string{"carol cole", "Lyon"}},
		{text: "Dan Date met Carol Cole.", about: "entity/dan date"},
		{text: "Eve Elm met Carol Cole and Dan Date."}}},
		commitOf{1, "", "", []told{{text: "Dan Date and Carol Cole moved on.", about: "entity/dan date"},
			{text: "Carol Cole and Dan Date moved in.", about: "Carol Cole"}}})
}
