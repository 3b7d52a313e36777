package retrieve

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// testSessions returns valid records, the first with every field.
func testSessions() []Session {
	return []Session{
		{
			Name: "review/1", Seq: 3, Prev: testCommit, Commit: testCommit, Agent: "agent",
			Task: "task", Actor: "alice", Time: -1, Receipt: testCommit, Ended: true,
			Extra: []ipld.Entry{{Key: "zz", Value: ipld.StringValue("later")}},
		},
		{Name: "_default", Follow: true, Actor: "a"},
	}
}

func TestSessionRoundTrip(t *testing.T) {
	for _, s := range testSessions() {
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		got, err := DecodeSession(s.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(&s, got); d != "" {
			t.Error(d)
		}
		if !slices.Equal(got.Encode(), s.Encode()) {
			t.Error("record changes when it is read and written")
		}
	}
}

func TestSessionRefuses(t *testing.T) {
	raw := ipld.Sum(ipld.Raw, nil)
	cases := map[string]func(*Session){
		"no name":                func(s *Session) { s.Name = "" },
		"bad name":               func(s *Session) { s.Name = "a..b" },
		"negative seq":           func(s *Session) { s.Seq = -1 },
		"seq too large":          func(s *Session) { s.Seq = 1 << 53 },
		"first with prev":        func(s *Session) { s.Seq = 0 },
		"later without prev":     func(s *Session) { s.Prev = ipld.CID{} },
		"raw prev":               func(s *Session) { s.Prev = raw },
		"raw commit":             func(s *Session) { s.Commit = raw },
		"raw receipt":            func(s *Session) { s.Receipt = raw },
		"follows a commit":       func(s *Session) { s.Follow = true },
		"neither":                func(s *Session) { s.Commit = ipld.CID{} },
		"no actor":               func(s *Session) { s.Actor = "" },
		"actor of two lines":     func(s *Session) { s.Actor = "a\nb" },
		"agent too long":         func(s *Session) { s.Agent = strings.Repeat("a", 256) },
		"task of two lines":      func(s *Session) { s.Task = "a\rb" },
		"time out of range":      func(s *Session) { s.Time = graph.MaxTime + 1 },
		"extra with a known key": func(s *Session) { s.Extra[0].Key = "ended" },
	}
	for name, change := range cases {
		s := testSessions()[0]
		change(&s)
		if err := s.Validate(); !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: validated with error %v", name, err)
			continue
		}
		if strings.HasPrefix(name, "extra") {
			continue // encodes to something else
		}
		if _, err := DecodeSession(s.Encode()); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s: decoded with error %v", name, err)
		}
	}
}

func TestSessionRefusesBlocks(t *testing.T) {
	s := testSessions()[0]
	whole, err := ipld.DecodeValue(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	optional := []string{"agent", "task", "receipt", "ended", "zz"}
	for _, e := range whole.Entries() {
		_, err := DecodeSession(ipld.AppendValue(nil, withParam(whole, e.Key, nil)))
		if (err == nil) != slices.Contains(optional, e.Key) {
			t.Errorf("without %s: %v", e.Key, err)
		}
		odd := parsed(t, `[1]`)
		_, err = DecodeSession(ipld.AppendValue(nil, withParam(whole, e.Key, &odd)))
		if (err == nil) != (e.Key == "zz") {
			t.Errorf("with an odd %s: %v", e.Key, err)
		}
	}
	for key, json := range map[string]string{"ended": `false`, "agent": `""`, "task": `""`} {
		v := parsed(t, json)
		_, err := DecodeSession(ipld.AppendValue(nil, withParam(whole, key, &v)))
		if !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s %s: %v", key, json, err)
		}
	}
}

func FuzzDecodeSession(f *testing.F) {
	for _, s := range testSessions() {
		f.Add(s.Encode())
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		s, err := DecodeSession(block)
		if err != nil {
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Fatalf("error %v is no ErrInvalid", err)
			}
			return
		}
		if !slices.Equal(s.Encode(), block) {
			t.Fatal("decoded, but encodes to other bytes")
		}
	})
}
