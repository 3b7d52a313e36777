package main

import (
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
)

// likenessPairs are pairs of texts: a group, a first and a second text, with tabs between.
//
//go:embed likeness_pairs.txt
var likenessPairs string

// memoryID is clause 24.1, as a uuid.
func memoryID(typ, text string, n uint64) string { return uuid(rawMemoryID(typ, text, n)) }

func rawMemoryID(typ, text string, n uint64) string {
	b := []byte("mnem:memory:" + typ + "\x00" + text)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, n))
	return string(sum[:16])
}

func observationOf(wording string, sources []string) string {
	s := "mnem:observed:" + wording
	for _, source := range sources {
		s += "\x00" + source
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func memoryIDCases(s *suite) {
	for i, m := range []struct{ typ, text string }{
		{"fact", "Server alpha runs PostgreSQL"}, {"preference", "Carol prefers tea over coffee."},
		{"fact", "张伟负责基础设施团队。"}, {"a\x01b", "c"}, {"fact", "\x00"},
	} {
		s.add("24.1", "memory-id", fmt.Sprintf("memory-%d", i+1), "ids of a memory",
			obj{"type": m.typ, "text": m.text},
			obj{"ids": []string{memoryID(m.typ, m.text, 0), memoryID(m.typ, m.text, 1),
				memoryID(m.typ, m.text, 256)}})
	}
	for i, o := range []struct {
		wording string
		sources []string
	}{
		{"bob has 2 daughters", []string{}}, {"Bob has two daughters", []string{"manual:ana"}},
		{"Bob", []string{"file:a", "url:b"}}, {"", []string{""}},
	} {
		s.add("24.1", "memory-id", fmt.Sprintf("observed-%d", i+1), "the key of an observation",
			obj{"wording": o.wording, "sources": o.sources},
			obj{"key": observationOf(o.wording, o.sources)})
	}
}

// likenessCase adds a case of pairs of texts.
func likenessCase(s *suite, clause, name, title string, pairs [][2]string) {
	var in []any
	var out []any
	for _, p := range pairs {
		alike, differs := likeness(p[0], p[1])
		list := []any{}
		for _, d := range differs {
			list = append(list, obj{"kind": d[0], "first": d[1], "second": d[2]})
		}
		in = append(in, []string{p[0], p[1]})
		out = append(out, obj{"likeness": alike, "differs": list})
	}
	s.add(clause, "likeness", name, title, obj{"pairs": in}, obj{"compared": out})
}

func likenessCases(s *suite) {
	groups := map[string][][2]string{}
	for _, line := range strings.Split(strings.TrimSpace(likenessPairs), "\n") {
		f := strings.Split(line, "\t")
		groups[f[0]] = append(groups[f[0]], [2]string{f[1], f[2]})
	}
	names := make([]string, 0, len(groups))
	for name := range groups {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		likenessCase(s, "24.2", name, "pairs of texts: "+name, groups[name])
	}
	likenessCase(s, "24.2", "signs", "signs, numbers and words of all sorts", [][2]string{
		{"Straße ÄÖÜ", "straße äöü"}, {"trabajo\u0301", "trabajó"}, {"ＡＢＣ １２", "abc 12"},
		{"a\u00a0b", "a b"}, {"a—b", "a-b"}, {"ΑΒΓ", "αβγ"}, {"ДЁ", "дё"}, {"İ", "i"}, {"x\ufffd", "x "},
		{"12:30 and 5:75", "12:30 and 5:75"}, {"+5 -5 $5", "5 5 5"}, {"$5.50/h", "$5.50/h"},
		{"1,234.5", "1234.5"}, {"0,123", "0.123"}, {"12 345 6", "12345 6"}, {"les 12 345 euros", "les 12345 euros"},
		{"2025/03/04", "2025-03-04"}, {"31.12.1999", "1999-12-31"}, {"99.99.1999", "99.99.1999"},
		{"5h30", "5 h 30"}, {"the 2nd", "the 2"}, {"`ls`", "ls"}, {"(what?)", "what"}, {"e.g. this", "e.g. this"},
		{"O'Brien's", "O'Brien"}, {"AT&T", "AT T"}, {"can't won't shan't ain't", "can not will not shall not is not"},
		{"THE US", "the us"}, {"in the US", "in the us"}, {"two hundred thousand", "200000"},
		{"dreiundzwanzig Tage", "23 Tage"}, {"quatre-vingt-dix-sept jours", "97 jours"},
		{"treinta y uno", "31"}, {"一千二百三十四个", "1234个"}, {"百分之五", "百分之5"}, {"May 5, 2025", "on 5 of May 2025"},
		{"le 1er mai", "le premier mai"}, {"she may go", "she May go"}, {"5 pm at 12 am", "17:00 at 00:00"},
		{"ガ", "か"}, {"ภาษาไทย", "ภาษาไท"}, {"", "a"}, {"...", "!!!"}, {"a. b? c", "a b c"},
	})
	likenessCase(s, "24.3", "differences", "what differs, of every kind", [][2]string{
		{"The limit is 30 s and 5%.", "The limit is 40 ms and 5€."},
		{"Alice met Bob in /etc/a on Friday", "Carol saw Dan in /etc/b on Monday"},
		{"Users can log in always", "Users cannot log in ever"}, {"der Leiter", "die Leiter"},
		{"这里允许吸烟，不可以喝酒", "这里禁止吸烟，可以喝茶"}, {"a b c d", "d c b a"},
		{strings.Repeat("x1 ", 20) + "a b c d e f g h i j k l m n o p q r", "z"},
		{"never left, not right", "always right, not left"}, {"30秒", "30毫秒"}, {"10 Mb", "10 MB"},
	})
	likenessCase(s, "24.2", "random", "sentences of words thrown together", randomPairs())
}

// randomPairs throws sentences together and changes them a little.
func randomPairs() [][2]string {
	rng := rand.New(rand.NewPCG(24, 2))
	words := strings.Fields("The the a an Alice alice Bob Robert Roberts server servers runs run running " +
		"is are was not never and or on in at Friday Fridays 5 five pm 5pm $5 30 s ms May 3rd, 2025 has have " +
		"worked works working been before after allowed forbidden? always. Der der die Server Servern läuft " +
		"laufen nicht kein im am Montag montags und drei 3 Le les l'API n'est pas le vendredi deux serveurs et " +
		"El los servidores servidor no nunca está usando usa y dos lunes 周五 星期五 我们 不 三 3月4日 今天 部署 的 " +
		"/etc/x v1.2 C++ \"x\" (y) US us it's don't 1,000 1.000 12:30 2025-03-03 Basically, very")
	var out [][2]string
	for range 400 {
		var a []string
		for range 1 + rng.IntN(9) {
			a = append(a, words[rng.IntN(len(words))])
		}
		b := slices.Clone(a)
		for range rng.IntN(3) {
			i := rng.IntN(len(b))
			switch rng.IntN(4) {
			case 0:
				b[i] = words[rng.IntN(len(words))]
			case 1:
				b = slices.Insert(b, i, words[rng.IntN(len(words))])
			case 2:
				j := rng.IntN(len(b))
				b[i], b[j] = b[j], b[i]
			default:
				b = slices.Concat(b[i:], b[:i])
			}
		}
		out = append(out, [2]string{strings.Join(a, " "), strings.Join(b, " ")})
	}
	return out
}

// toldMemory is a memory as the second implementation keeps it.
type toldMemory struct {
	id, typ, text, about string
	entities             []string
	validFrom            int
	hidden               bool
	observed             map[string]bool
	sources              []string
}

// toldFact is a request to remember: its members are those of the vector.
type toldFact struct {
	Type, Text, About, Property string
	Entities, Sources           []string
	ValidFrom                   int
}

// rememberAll is clause 24.4, on all memories: what a search would find is all of these few.
func rememberAll(reqs []toldFact) []any {
	var list []*toldMemory
	find := func(id string) *toldMemory {
		for _, m := range list {
			if m.id == id {
				return m
			}
		}
		return nil
	}
	values := map[string][]*toldMemory{}
	var out []any
	for _, r := range reqs {
		fits := func(m *toldMemory) bool {
			both := len(r.Entities) == 0 || len(m.entities) == 0
			for _, e := range r.Entities {
				both = both || slices.Contains(m.entities, e)
			}
			return r.Type == m.typ && both && r.ValidFrom == m.validFrom &&
				(r.About == "" || r.About == m.about)
		}
		var same *toldMemory
		n := uint64(0)
		for ; same == nil && find(memoryID(r.Type, r.Text, n)) != nil; n++ {
			if m := find(memoryID(r.Type, r.Text, n)); fits(m) && !m.hidden {
				same = m
			}
		}
		conflict := false
		if same == nil {
			for _, m := range list {
				if m.hidden {
					continue
				}
				alike, differs := likeness(r.Text, m.text)
				opposite := len(differs) > 0
				for _, d := range differs {
					opposite = opposite && d[0] == "negation"
				}
				if alike > 58982 && len(differs) == 0 && fits(m) && (same == nil || m.id < same.id) {
					same = m
				}
				conflict = conflict || opposite && alike >= 32768 && fits(m)
			}
		}
		action := "duplicate"
		if same == nil {
			same = &toldMemory{id: memoryID(r.Type, r.Text, n), typ: r.Type, text: r.Text, about: r.About,
				entities: r.Entities, validFrom: r.ValidFrom, observed: map[string]bool{}, sources: r.Sources}
			list = append(list, same)
			if action = "added"; conflict {
				action = "conflict"
			}
		} else {
			fresh := r.Text != same.text
			for _, source := range r.Sources {
				fresh = fresh || !slices.Contains(same.sources, source)
			}
			for _, e := range r.Entities {
				if !slices.Contains(same.entities, e) {
					same.entities = append(slices.Clone(same.entities), e)
					action = "updated"
				}
			}
			if fresh {
				same.observed[observationOf(r.Text, r.Sources)] = true
			}
		}
		if at := r.About + " " + r.Property; r.Property != "" && !slices.Contains(values[at], same) {
			for _, old := range values[at] {
				old.hidden = true
				action = "superseded"
			}
			values[at] = []*toldMemory{same}
		}
		out = append(out, obj{"id": same.id, "action": action, "observed": len(same.observed)})
	}
	return out
}

func rememberCases(s *suite) {
	add := func(name, title string, reqs ...toldFact) {
		for i := range reqs {
			if reqs[i].Type == "" {
				reqs[i].Type = "fact"
			}
		}
		var in []any
		for _, r := range reqs {
			o := obj{"type": r.Type, "text": r.Text}
			for k, v := range map[string]string{"about": r.About, "property": r.Property} {
				if v != "" {
					o[k] = v
				}
			}
			if r.Entities != nil {
				o["entities"] = r.Entities
			}
			if r.Sources != nil {
				o["sources"] = r.Sources
			}
			if r.ValidFrom != 0 {
				o["validFrom"] = r.ValidFrom
			}
			in = append(in, o)
		}
		s.add("24.4", "remember", name, title, obj{"requests": in},
			obj{"remembered": rememberAll(reqs)})
	}
	texts := func(list ...string) (out []toldFact) {
		for _, t := range list {
			out = append(out, toldFact{Text: t})
		}
		return out
	}
	add("again", "the same in the same and in other words", texts("Bob has two daughters.",
		"Bob has two daughters.", "bob has 2 daughters", "bob has 2 daughters", "Bob has three daughters.")...)
	add("apart", "texts that differ in a name, a negation, an order", texts("Server alpha runs PostgreSQL",
		"Server beta runs PostgreSQL", "Deployments are allowed on Friday",
		"Deployments are not allowed on Friday", "Alice manages Bob", "Bob manages Alice")...)
	add("value", "a property with one value; the old value again is a new memory",
		toldFact{Text: "Alice works at Initech", About: "alice", Property: "employer"},
		toldFact{Text: "Alice works at Globex", About: "alice", Property: "employer"},
		toldFact{Text: "Alice works at Initech", About: "alice", Property: "employer"},
		toldFact{Text: "alice works at initech.", About: "alice", Property: "employer"})
	add("subjects", "one text of two subjects, times, types and entities",
		toldFact{Text: "Prefers tea over coffee", About: "alice"}, toldFact{Text: "Prefers tea over coffee", About: "bob"},
		toldFact{Text: "prefers tea over coffee", About: "bob"},
		toldFact{Text: "Prefers tea over coffee", ValidFrom: 1_780_000_000_000_000},
		toldFact{Text: "Prefers tea over coffee", Type: "preference"},
		toldFact{Text: "The disk is full", Entities: []string{"alpha"}},
		toldFact{Text: "The disk is full", Entities: []string{"beta"}},
		toldFact{Text: "The disk is full", Entities: []string{"beta", "gamma"}})
	add("sources", "the same text of other sources",
		toldFact{Text: "Bob likes tea", Sources: []string{"manual:a"}}, toldFact{Text: "Bob likes tea"},
		toldFact{Text: "Bob likes tea", Sources: []string{"manual:b"}},
		toldFact{Text: "Bob likes tea", Sources: []string{"manual:b"}},
		toldFact{Text: "bob likes tea", Sources: []string{"manual:a"}})
}
