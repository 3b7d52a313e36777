package remember

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/adjacency"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/history"
	"github.com/mnem-project/mnem/internal/memory"
	"github.com/mnem-project/mnem/internal/state"
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
		{"moved", said("We deploy every Friday at 5 pm.", "Every Friday at 5 pm we deploy"),
			"added duplicate"},
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
		{"no diff", []Request{{Text: "Bob likes tea"}, {Text: "Bob likes tea", NoDiff: true}},
			"added added"},
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
	got := keep(t, m, first, Request{Text: "Alice works at Globex", About: "alice",
		Property: "employer"})
	old, now := got[0].ID, got[1].ID
	s := m.headOf(t)
	n, _, err := s.Node(t.Context(), old)
	if err != nil || n.Summary != first.Text || memory.StatedImportance(n) != 4 || !slices.Contains(n.Sources, "file:notes.md") {
		t.Errorf("old memory: %+v, %v", n, err)
	}
	mark, err := s.Mark(t.Context(), graph.OnNode, old)
	must.Check(t, err == nil && mark != nil && mark.State == graph.Superseded && mark.By == now,
		"mark: %+v, %v", mark, err)
	subject := must.Get(s.Name(t.Context(), "key:alice"))(t)
	if n, err := s.Adjacency().Degree(t.Context(), subject, adjacency.Out, "employer"); n != 2 || err != nil {
		t.Errorf("%d values, %v", n, err)
	}
	again := keep(t, m, first)[0]
	if again.Action != Superseded || again.ID == old ||
		!slices.Contains(again.Warnings, quality(QualityHidden, "superseded")) {
		t.Errorf("the old text again: %+v", again)
	}
}

// TestObservations holds that other words are kept, each once, up to a bound.
func TestObservations(t *testing.T) {
	m := newMemory(t)
	keep(t, m, said("Bob has two daughters.")...)
	res, err := m.Remember(t.Context(), rememberAt(1), said("Bob has two daughters.")[0])
	must.Check(t, err == nil && res.NoChange, "the same words: %+v, %v", res.CommitResult, err)
	for range 2 {
		res, err = m.Remember(t.Context(), rememberAt(2), said("bob has 2 daughters")[0])
	}
	must.Check(t, err == nil && res.NoChange, "the same other words: %+v, %v", res.CommitResult, err)
	id := res.Memories[0].ID
	key := ObservationKey("bob has 2 daughters", nil)
	e, _, err := m.headOf(t).Edge(t.Context(), graph.EdgeID(id, memory.EdgeObserved, id, key))
	if v, _ := ipld.FindEntry(e.Props, "text"); err != nil || v.Text() != "bob has 2 daughters" {
		t.Errorf("observation: %+v, %v", e, err)
	}
	for i := range MaxObserved + 3 {
		req := Request{Text: "Bob has two daughters", Sources: []string{fmt.Sprint("manual:", i)}}
		res = must.Get(m.Remember(t.Context(), rememberAt(3), req))(t)
	}
	n, err := m.headOf(t).Adjacency().Degree(t.Context(), id, adjacency.Out, memory.EdgeObserved)
	if n != MaxObserved || err != nil || !res.NoChange ||
		res.Memories[0].Warnings[0].Code != QualityObserved {
		t.Errorf("%d observations, %v, %+v", n, err, res)
	}
}

func TestUndoRemember(t *testing.T) {
	m := newMemory(t)
	keep(t, m, Request{Text: "Alice works at Initech", About: "alice", Property: "employer"})
	for i, req := range []Request{
		{Text: "Alice works at Globex", About: "alice", Property: "employer"},
		{Text: "alice works at Initech", Tags: []string{"x"}, Importance: 5},
		{Text: "Bob likes tea", Tags: []string{"tea"}, Entities: []string{"Bob"}, Sources: []string{"url:x"}},
	} {
		before := m.headOf(t).Graph()
		keep(t, m, req)
		must.Check(t, m.headOf(t).Graph() != before, "request %d changed nothing", i)
		by := rememberAt(5).Stamp
		must.Get(history.Undo(t.Context(), m.r, "", by))(t)
		must.Equal(t, m.headOf(t).Graph(), before, "request ", i, " undone: graph")
	}
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
		must.Check(t, err != nil && strings.Contains(err.Error(), c.want),
			"%.60v: %v, want %q", c.req, err, c.want)
		must.Equal(t, m.headOf(t).CID(), before, c.req, ": wrote")
	}
	_, err := m.RememberAll(t.Context(), rememberAt(1), append(said("x y z"), Request{}))
	var bad *RequestError
	must.Check(t, errors.As(err, &bad) && bad.Item == 2 && errors.Is(err, state.ErrInvalid), "batch: %v", err)
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
	if actions(got) != "added conflict" || len(got[1].Superseded) > 0 {
		t.Errorf("%s", actions(got))
	}
	must.Check(t, must.Err(change(func(p *Params) { p.SimilarFrom = p.DuplicateAbove + 1 })) != nil,
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
