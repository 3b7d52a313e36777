package remember

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/memkit"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

func rememberAt(hours int) WriteOptions {
	by := linkBy
	by.Time = day0 + graph.Time(hours)*hourMicros
	return WriteOptions{CommitOptions: core.CommitOptions{Stamp: by}}
}

// keep remembers requests one by one, an hour apart, and returns what became of them.
func keep(t testing.TB, m *Writer, reqs ...Request) []Remembered {
	t.Helper()
	var out []Remembered
	for i, req := range reqs {
		res := must.Get(m.Remember(t.Context(), rememberAt(i), req))(t, req)
		out = append(out, res.Memories...)
	}
	return out
}

func said(texts ...string) []Request {
	var out []Request
	for _, s := range texts {
		out = append(out, Request{Text: s})
	}
	return out
}

func actions(list []Remembered) string {
	var out []string
	for _, r := range list {
		out = append(out, string(r.Action))
	}
	return strings.Join(out, " ")
}

func TestRememberDecides(t *testing.T) {
	for _, c := range []struct {
		name string
		reqs []Request
		want string
	}{
		{"servers", said("Server alpha runs PostgreSQL", "Server beta runs PostgreSQL"), "added added"},
		{"friday", said("Deployments are allowed on Friday", "Deployments are not allowed on Friday"),
			"added conflict"},
		{"again", said("Bob has two daughters.", "Bob has two daughters.", "bob has 2 daughters"),
			"added duplicate duplicate"},
		{"moved", said("We deploy every Friday at 5 pm.", "Every Friday at 5 pm we deploy"), "added duplicate"},
		{"types", []Request{{Text: "Bob likes tea"}, {Text: "Bob likes tea", Type: memory.Preference}},
			"added added"},
		{"subjects", []Request{
			{Text: "Prefers tea over coffee", About: "alice"}, {Text: "Prefers tea over coffee", About: "bob"},
			{Text: "prefers tea over coffee", About: "bob"}}, "added added duplicate"},
		{"validity", []Request{{Text: "Alice leads the team"},
			{Text: "Alice leads the team", ValidFrom: graph.At(day0)}}, "added added"},
		{"property", []Request{
			{Text: "Alice works at Initech", About: "alice", Property: "employer"},
			{Text: "Alice works at Globex", About: "alice", Property: "employer"},
			{Text: "Alice works at Globex now", About: "alice", Property: "employer"}},
			"added superseded superseded"},
		{"superseded before", []Request{ // in a batch as one by one
			{Text: "Alice works at Initech in Bonn", About: "alice", Property: "employer"},
			{Text: "Alice works at Globex in Bonn", About: "alice", Property: "employer"},
			{Text: "alice works at initech in bonn.", About: "alice"}}, "added superseded added"},
		{"many of one text", []Request{
			{Text: "Is away", About: "a"}, {Text: "Is away", About: "b"}, {Text: "Is away", NoDiff: true},
			{Text: "Is away", About: "c"}, {Text: "Is away", About: "b"}, {Text: "Is away", NoDiff: true},
			{Text: "Is away", About: "c"}}, "added added added added duplicate added duplicate"},
		{"no diff", []Request{{Text: "Bob likes tea"}, {Text: "Bob likes tea", NoDiff: true}}, "added added"},
		{"more", []Request{{Text: "Bob likes tea"}, {Text: "Bob likes tea", Importance: 5},
			{Text: "Bob likes tea", Tags: []string{"tea"}}, {Text: "Bob likes tea", Importance: 1}},
			"added updated updated duplicate"},
		{"entities", []Request{{Text: "The server is down", Entities: []string{"alpha"}},
			{Text: "The server is down", Entities: []string{"beta"}}}, "added added"},
		{"han", said("张伟管理李娜。", "李娜管理张伟。", "张伟管理李娜"), "added added duplicate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := keep(t, newMemory(t), c.reqs...)
			must.Equal(t, actions(one), c.want, "one by one")
			m := newMemory(t)
			res := must.Get(m.RememberAll(t.Context(), rememberAt(0), c.reqs))(t)
			must.Equal(t, actions(res.Memories), c.want, "as a batch")
			for i := range one {
				must.Equal(t, one[i].ID, res.Memories[i].ID, "memory ", i)
			}
		})
	}
}

// TestRememberLosesNothing holds that what was there is there, whatever is remembered upon it.
func TestRememberLosesNothing(t *testing.T) {
	m := newMemory(t)
	first := Request{Text: "Alice works at Initech", Importance: 4, Tags: []string{"work"},
		About: "alice", Property: "employer", Sources: []string{"file:notes.md"}}
	got := keep(t, m, first, Request{Text: "Alice works at Globex", About: "alice", Property: "employer"})
	old, now := got[0].ID, got[1].ID
	s := m.headOf(t)
	n, _, err := s.Node(t.Context(), old)
	must.True(t, err == nil && n.Summary == first.Text && memory.StatedImportance(n) == 4 &&
		slices.Contains(n.Sources, "file:notes.md"), "old memory: %+v, %v", n, err)
	mark, err := s.Mark(t.Context(), graph.OnNode, old)
	must.True(t, err == nil && mark != nil && mark.State == graph.Superseded && mark.By == now,
		"mark: %+v, %v", mark, err)
	subject := must.Get(s.Name(t.Context(), "key:alice"))(t)
	if n, err := s.Adjacency().Degree(t.Context(), subject, adjacency.Out, "employer"); n != 2 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
	again := keep(t, m, first)[0]
	must.True(t, again.Action == Superseded && again.ID != old &&
		slices.Contains(again.Warnings, quality(QualityHidden, "superseded")), "the old text again: %+v", again)
}

// TestObservations holds that other words are kept, each once, up to a bound.
func TestObservations(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("Bob has two daughters.")...)
	res, err := m.Remember(t.Context(), rememberAt(1), said("Bob has two daughters.")[0])
	must.True(t, err == nil && res.NoChange, "the same words: %+v, %v", res.CommitResult, err)
	for range 2 {
		res, err = m.Remember(t.Context(), rememberAt(2), said("bob has 2 daughters")[0])
	}
	must.True(t, err == nil && res.NoChange, "the same other words: %+v, %v", res.CommitResult, err)
	id := res.Memories[0].ID
	key := ObservationKey("bob has 2 daughters", nil)
	e, _, err := m.headOf(t).Edge(t.Context(), graph.EdgeID(id, memory.EdgeObserved, id, key))
	v, _ := ipld.FindEntry(e.Props, "text")
	must.True(t, err == nil && v.Text() == "bob has 2 daughters", "observation: %+v, %v", e, err)
	for i := range MaxObserved + 3 {
		req := Request{Text: "Bob has two daughters", Sources: []string{fmt.Sprint("manual:", i)}}
		res = must.Get(m.Remember(t.Context(), rememberAt(3), req))(t)
	}
	n, err := m.headOf(t).Adjacency().Degree(t.Context(), id, adjacency.Out, memory.EdgeObserved)
	must.True(t, n == MaxObserved && err == nil && res.NoChange && res.Memories[0].Warnings[0].Code == QualityObserved,
		"%d observations, %v, %+v", n, err, res)
}

func TestRememberRefuses(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("Bob likes tea")...)
	for _, c := range []struct {
		req  Request
		want string
	}{
		{Request{Text: " \n"}, "text: empty"},
		{Request{Text: strings.Repeat("é", memory.MaxText+1)}, "text: 8001 characters"},
		{Request{Text: "a\xff"}, "text: not UTF-8"},
		{Request{Text: "x", Importance: 6}, "importance"},
		{Request{Text: "x", Type: strings.Repeat("t", 256)}, "type"},
		{Request{Text: "x", Tags: make([]string, 21)}, "tags: 21, limit 20"},
		{Request{Text: "x", Tags: []string{" "}}, "tags"},
		{Request{Text: "x", Entities: make([]string, 51)}, "entities: 51, limit 50"},
		{Request{Text: "x", Sources: []string{strings.Repeat("s", 1025)}}, "source"},
		{Request{Text: "x", Property: "p"}, "property: goes with a subject"},
		{Request{Text: "x", About: "a", Property: "near"}, "property: \"near\""},
		{Request{Text: "x", About: "a", Property: " \t"}, "property: blank"},
		{Request{Text: "x", About: "a", Property: "p\x1b[31m"}, "property: want"},
		{Request{Text: "x", About: "id:1b4e28ba-2fa1-11d2-883f-0016d3cca427"}, "no node"},
		{Request{Text: "x", About: "1b4e28ba-2fa1-11d2-883f-0016d3cca427"}, "no node"},
		{Request{Text: "x", Supersedes: []string{"nobody"}}, "no node"},
		{Request{Text: "x", ValidFrom: graph.At(2), ValidTo: graph.At(1)}, "valid-to"},
		{Request{Text: "x", ValidFrom: graph.At(2), ValidTo: graph.At(2)}, "valid-to"},
		{Request{Text: "Bob likes tea", Supersedes: []string{ID(memory.Fact, "Bob likes tea", 0).String()}},
			"supersedes"},
	} {
		before := m.headOf(t).CID()
		_, err := m.Remember(t.Context(), rememberAt(1), c.req)
		must.True(t, err != nil && strings.Contains(err.Error(), c.want), "%.60v: %v, want %q", c.req, err, c.want)
		must.Equal(t, m.headOf(t).CID(), before, c.req, ": wrote")
	}
	_, err := m.RememberAll(t.Context(), rememberAt(1), append(said("x y z"), Request{}))
	var bad *RequestError
	must.True(t, errors.As(err, &bad) && bad.Item == 2 && errors.Is(err, state.ErrInvalid), "batch: %v", err)
}

func TestRememberParams(t *testing.T) {
	m := newMemory(t)
	change := func(change func(*Params)) (Params, error) {
		p, _, err := ChangeParams(t.Context(), m.r, rememberAt(0).CommitOptions, func(p *Params) error {
			change(p)
			return nil
		})
		return p, err
	}
	p := must.Get(change(func(p *Params) { p.Keep = true }))(t)
	must.Equal(t, must.Get(ParamsAt(t.Context(), m.headOf(t)))(t), p)
	got := keep(t, m, Request{Text: "Alice works at Initech", About: "alice", Property: "employer"},
		Request{Text: "Alice works at Globex", About: "alice", Property: "employer"})
	must.True(t, actions(got) == "added conflict" && len(got[1].Superseded) == 0, "%s", actions(got))
	must.True(t, must.Err(change(func(p *Params) { p.SimilarFrom = p.DuplicateAbove + 1 })) != nil,
		"similarFrom above duplicateAbove was taken")
}

func TestQualities(t *testing.T) {
	for s, want := range map[string]string{
		"Alice leads the infrastructure team":              "",
		"The key is AKIA" + "Q4WK2ZBR7DNX5TFM for backups": "secret",
		"The key is AKIAIOSFODNN7EXAMPLE for the bucket":   "",
		"The admin password=hunter22 is on the wiki":       "secret",
		"The migration is currently running on the server": "transient",
		"4f2a91c0-77aa-4bb1-9d2e-8f3e6a1b2c3d":             "identifier",
		"2026-01-02T03:04:05Z INFO server started":         "identifier",
		"Bob tea":                                          "short",
		"It runs on port 8080":                             "pronoun",
		"他喜欢喝绿茶":                                           "pronoun",
		"张伟喜欢喝绿茶":                                          "",
		"迁移正在服务器上运行":                                       "transient",
		"Item four is italic in the doc":                   "",
		"Downloading takes an hour":                        "",
		"The outlet meter is in room 4":                    "",
		"The lift is on the right. Now it is the left one": "",
		"Modell zwei, gerade läuft es gut":                 "transient",
		"our staging password is hunt" + "er2!":            "secret",
		"The password is stored in 1Password":              "", "Door PINs are four digits": "",
		"The page is loading": "transient", "I'm  going to restart it": "transient",
		"En este momento, Ana está en Lyon": "transient", "他们目前在线上": "transientpronoun",
	} {
		got := ""
		for _, q := range qualities(s) {
			got += string(q.Code)
		}
		must.Equal(t, got, want, s)
	}
}

// TestNearest remembers one text after others, and looks which of them it is told to be near to and may replace.
func TestNearest(t *testing.T) {
	const old = "The nightly atlas rebuild starts at 02:30"
	const now = "The atlas rebuild starts at 04:15"
	others := []string{"Orders of 40 euros and more ship for free", "Paul is product owner of the shop",
		"Support answers on weekdays from nine to five"}
	for name, c := range map[string]struct {
		req    Request
		after  int // hours
		near   bool
		settle bool
	}{
		"days later":        {Request{Text: now}, 48, true, true},
		"in one sitting":    {Request{Text: now}, 2, true, false},
		"of something else": {Request{Text: "Ravi is on call in June"}, 48, false, false},
		"not looked for":    {Request{Text: now, NoDiff: true}, 48, false, false},
		"already said":      {Request{Text: now, Supersedes: []string{old}}, 48, false, false},
		"said again":        {Request{Text: old, Tags: []string{"atlas"}}, 48, false, false},
		"by its cues alone": {Request{Text: "Since then 04:15 is the hour",
			Cues: []string{"nightly rebuild", "atlas start"}}, 48, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(t)
			first := keep(t, m, said(slices.Concat(others, []string{old})...)...)[len(others)]
			res := must.Get(m.Remember(t.Context(), rememberAt(len(others)+c.after), c.req))(t)
			r := res.Memories[0]
			if near := len(r.Nearest) > 0 && r.Nearest[0].ID == first.ID; near != c.near || !near && len(r.Nearest) > 0 {
				t.Errorf("nearest: %+v", r.Nearest)
			} else if near && (r.Nearest[0].Text != old || r.Nearest[0].Date != day0.String()[:10]) {
				t.Errorf("%+v, of %s", r.Nearest[0], day0)
			}
			must.True(t, (r.Settle == first.ID) == c.settle && (c.settle || r.Settle == (graph.ID{})),
				"settle %s, want %t", r.Settle, c.settle)
			must.Equal(t, len(r.Superseded) > 0, c.req.Supersedes != nil, "superseded: ", r.Superseded)
		})
	}
}

// TestBatchAsksNothing remembers several at once: nothing is asked for, and nothing replaced.
func TestBatchAsksNothing(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("The queue holds 500 messages of a worker")...)
	for _, timed := range []bool{false, true} {
		reqs := said("The queue holds 800 messages of a worker", "The gate is green in May")
		for i := range reqs {
			reqs[i].Time = graph.OptTime{Time: day0 + 80*hourMicros, Given: timed}
		}
		res := must.Get(m.RememberAll(t.Context(), rememberAt(100), reqs))(t)
		for _, r := range res.Memories {
			must.True(t, len(r.Nearest) <= 0 && r.Settle.IsZero() && len(r.Superseded) <= 0,
				"timed %t: %+v", timed, r)
		}
	}
}

// TestParamsAtOnce changes one parameter each from many sides at once: none undoes another's, and
// what a later version wrote stays.
func TestParamsAtOnce(t *testing.T) {
	r := memkit.Open(t, `{"node":{"key":"a","type":"fact"}}`)
	later := []ipld.Entry{{Key: "later", Value: ipld.IntValue(7)}}
	for _, verb := range []string{"importance", verbRemember} {
		_, err := memory.ChangeVerbParams(t.Context(), r, verb, memkit.Opt, func([]ipld.Entry, error) ([]ipld.Entry, error) {
			return later, nil
		})
		must.OK(t, err)
	}
	const n = 8
	errs := make(chan error, n+2)
	for i := range n {
		go func() { // each as if it were a program of its own
			_, _, err := memory.ChangeHalfLives(t.Context(), r, memkit.Opt, func(own memory.HalfLives) error {
				own[fmt.Sprint("type", i)] = i + 1
				return nil
			})
			errs <- err
		}()
	}
	for _, change := range []func(*Params){
		func(p *Params) { p.Keep = true },
		func(p *Params) { p.SimilarFrom = 40_000 },
	} {
		go func() {
			_, _, err := ChangeParams(t.Context(), r, memkit.Opt,
				func(p *Params) error { change(p); return nil })
			errs <- err
		}()
	}
	for range n + 2 {
		must.OK(t, <-errs)
	}
	s := memkit.Tip(t, r)
	own := must.Get(memory.OwnHalfLivesAt(t.Context(), s))(t)
	must.Equal(t, len(own), n)
	p, err := ParamsAt(t.Context(), s)
	must.True(t, err == nil && p.Keep && p.SimilarFrom == 40_000, "%+v %v", p, err)
	for _, verb := range []string{"importance", verbRemember} {
		entries, err := memory.VerbParams(t.Context(), s, verb)
		_, ok := ipld.FindEntry(entries, "later")
		must.True(t, err == nil && ok, "%s: %v %v", verb, entries, err)
	}
}

// TestRememberTimes holds that a batch with times makes the graph of single calls at these times, whatever
// the rules find of the requests before: names, likes, causes, values and what was remembered shortly before.
func TestRememberTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	people := []string{"Caroline Smith", "Caroline", "Bob Marlow", "Dana"}
	pick := func(list []string) string { return list[rng.IntN(len(list))] }
	for round := range effort.Pick(4, 8, 8) {
		one, all := newMemory(t), newMemory(t)
		seed := said("Dana Dahl leads the harbour team")
		keep(t, one, seed...)
		keep(t, all, seed...)
		var reqs []Request
		at := day0 + graph.Time(hourMicros)
		for i := range 45 {
			at += graph.Time(rng.IntN(9)) * hourMicros / 3
			req := Request{Time: graph.At(at)}
			switch rng.IntN(6) {
			case 0:
				req.Text = fmt.Sprintf("On Monday %s moved to berth %d", pick(people), rng.IntN(4))
			case 1:
				req.Text = fmt.Sprintf("The outage of service %d was caused by the storm", rng.IntN(3))
			case 2:
				req.Text, req.Sources = fmt.Sprintf("Line %d of the log", i), []string{"file:log.md"}
			case 3:
				req.Text = fmt.Sprintf("The team of %s has %d boats", pick(people), rng.IntN(3))
				req.Tags = []string{pick([]string{"boats", "crew"})}
			case 4:
				req.Text = fmt.Sprintf("Bob works at %s", pick([]string{"Initech", "Globex"}))
				req.About, req.Property = "bob", "employer"
			case 5:
				req.Text, req.Cues = "The storm closed the harbour", []string{pick([]string{"weather", "wind"})}
				req.Importance = 1 + rng.IntN(5)
			}
			reqs = append(reqs, req)
		}
		for i, req := range reqs {
			opt := rememberAt(0)
			opt.Time, req.Time = req.Time.Time, graph.OptTime{}
			must.Get(one.Remember(t.Context(), opt, req))(t, "request ", i)
		}
		opt := rememberAt(100)
		res := must.Get(all.RememberAll(t.Context(), opt, reqs))(t)
		must.Equal(t, len(res.Memories), len(reqs), "answers to")
		must.Equal(t, all.headOf(t).Graph(), one.headOf(t).Graph(), "round ", round, ": graph")
		must.Equal(t, all.headOf(t).Commit().Time, opt.Time, "the commit is")
	}
}

// TestRememberTimesBounds holds that no more lines are decided about one by one than memory is kept for.
func TestRememberTimesBounds(t *testing.T) {
	m := newMemory(t)
	reqs := make([]Request, MaxTimed+1)
	for i := range reqs {
		reqs[i].Text = fmt.Sprint("fact ", i)
	}
	reqs[MaxTimed].Time = graph.At(day0)
	must.Fail(t, must.Err(m.RememberAll(t.Context(), rememberAt(1), reqs)), state.ErrInvalid)
}

// TestRememberTimesRefuses holds that a refused request is named, and that nothing is written.
func TestRememberTimesRefuses(t *testing.T) {
	m := newMemory(t)
	reqs := said("Alice sails", "Bob rows")
	reqs[0].Time, reqs[1].Supersedes = graph.At(day0), []string{"nobody"}
	_, err := m.RememberAll(t.Context(), rememberAt(1), reqs)
	must.True(t, err != nil && err.Error() == `memory 2: no node "nobody"`, "error %v", err)
	must.True(t, !m.headOf(t).CID().Defined(), "something was written")
}
