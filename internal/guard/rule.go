package guard

import (
	"crypto/sha256"
	_ "embed" // for the rules
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

//go:embed rules/gitleaks.toml
var gitleaksFile string

//go:embed rules/mnem.toml
var ownFile string

//go:embed rules/refused.txt
var refusedFile string

// Level is the severity of a finding.
type Level int

const (
	Warns   Level = iota + 1 // it may be a credential: it is reported
	Refuses                  // it is one and must not be written
)

// String is "warns" or "refuses".
func (l Level) String() string {
	if l == Refuses {
		return "refuses"
	}
	return "warns"
}

// Rule is one rule, for lists of them.
type Rule struct {
	ID    string
	About string // a sentence
	Level Level
}

// Rules returns all rules by id.
func Rules() []Rule {
	var out []Rule
	for _, r := range all().rules {
		out = append(out, Rule{ID: r.id, About: r.about, Level: r.level})
	}
	at, _ := slices.BinarySearchFunc(out, RuleProse, func(r Rule, id string) int { return strings.Compare(r.ID, id) })
	return slices.Insert(out, at, Rule{ID: RuleProse, About: aboutProse, Level: Warns})
}

// IsRule reports whether a rule with an id exists.
func IsRule(id string) bool {
	_, ok := all().byID(id)
	return ok || id == RuleProse
}

// rule is a rule ready for use.
type rule struct {
	ruleText
	level Level
	rank  int // among the rules, by id

	once sync.Once
	// pattern is matched at a keyword if leads is set, otherwise around it.
	pattern   *regexp.Regexp
	leads     bool
	boundary  bool     // no character of a word may stand before it
	wide      bool     // if it does not match it may still have read on
	sets      bool     // its credentials are assigned: a sign stands between the keyword and the credential
	heads     []string // the possible beginnings of matches, nil if their case is irrelevant
	allowance []allowance
}

// allowance is an allow list ready for use.
type allowance struct {
	allowText
	any *regexp.Regexp // nil for no patterns
}

// set is all rules, by id, with their keywords.
type set struct {
	rules []*rule
	allow []allowance
	words index
}

// judging is the version of decisions made in code rather than in the files of rules: which texts are searched, and
// which matches are harmless. Changing it rebuilds everything derived from findings.
const judging = 1

// Version identifies the rules: data derived from findings is outdated if it differs.
var Version = sync.OnceValue(func() [sha256.Size]byte { return version(gitleaksFile, ownFile, refusedFile) })

func version(published, own, refused string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "mnem:guard:%d\n%d %d %d\n%s%s%s", judging, len(published), len(own),
		len(refused), published, own, refused))
}

// all parses the rules on first use. The files are embedded and covered by a test: an error is a bug.
var all = sync.OnceValue(func() *set {
	s, err := newSet(gitleaksFile, ownFile, refusedFile)
	if err != nil {
		panic(fmt.Sprintf("rules of package guard: %v", err))
	}
	return s
})

// newSet builds rules from files; later ones take precedence.
func newSet(published, own, refused string) (*set, error) {
	s := &set{}
	texts := map[string]ruleText{}
	for _, file := range []string{published, own} {
		f, err := readRules(file)
		if err != nil {
			return nil, err
		}
		for _, r := range f.rules {
			texts[r.id] = r
		}
		s.allow = append(s.allow, newAllowance(f.allow))
	}
	levels := map[string]Level{}
	for line := range strings.Lines(refused) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			levels[line] = Refuses
		}
	}
	for id, r := range texts {
		if r.pattern == "" || len(r.keywords) == 0 {
			continue // about the names of files
		}
		level := Warns
		if levels[id] == Refuses {
			level = Refuses
		}
		delete(levels, id)
		r.pattern = strings.ReplaceAll(r.pattern, publishedEnd, end)
		s.rules = append(s.rules, &rule{ruleText: r, level: level})
	}
	for id := range levels {
		return nil, fmt.Errorf("no rule %q to refuse by", id)
	}
	slices.SortFunc(s.rules, func(a, b *rule) int { return strings.Compare(a.id, b.id) })
	for i, r := range s.rules {
		r.rank = i
		for _, w := range r.keywords {
			if err := s.words.add(w, r); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *set) byID(id string) (*rule, bool) {
	i, ok := slices.BinarySearchFunc(s.rules, id, func(r *rule, id string) int { return strings.Compare(r.id, id) })
	if !ok {
		return nil, false
	}
	return s.rules[i], true
}

func newAllowance(t allowText) allowance {
	a := allowance{allowText: t}
	if len(t.patterns) > 0 {
		a.any = regexp.MustCompile("(?:" + strings.Join(t.patterns, ")|(?:") + ")")
	}
	return a
}

// named is the beginning of patterns with a provider's name: text that may precede the name, which does not affect
// what is found.
const named = `[\w.-]{0,50}?`

// setting is the part of patterns for the assignment sign.
const setting = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

// publishedEnd is the end of published patterns: what follows a credential in settings files. In prose these are
// stops, commas and brackets: end accepts everything that cannot continue a credential.
const (
	publishedEnd = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	end          = `(?:[^\w.:+/=-]|[.:](?:\W|$)|\\[nr]|$)`
)

// ready compiles the rule.
func (r *rule) ready() {
	r.once.Do(func() {
		pattern := strings.Replace(r.ruleText.pattern, named+"(?i:"+named, "(?i:", 1)
		flags := ""
		if rest, ok := strings.CutPrefix(pattern, "(?i)"); ok {
			flags, pattern = "(?i)", rest
		}
		pattern = strings.TrimPrefix(pattern, named)
		bare, bounded := strings.CutPrefix(pattern, `\b`)
		if r.heads, r.leads = beginsWith(flags+bare, r.keywords); r.leads {
			pattern, r.boundary = `\A(?:`+bare+`)`, bounded
		}
		pattern = flags + pattern
		r.sets = r.leads && strings.Contains(pattern, setting)
		r.wide = strings.Contains(pattern, ".*")
		r.pattern = regexp.MustCompile(pattern)
		for _, t := range r.allow {
			r.allowance = append(r.allowance, newAllowance(t))
		}
	})
}

// beginsWith reports whether every match of a pattern begins with one of the keywords, ignoring case, and returns
// the beginnings if case matters.
func beginsWith(pattern string, keywords []string) (heads []string, ok bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false
	}
	heads, _ = headsOf(tree)
	if len(heads) == 0 {
		return nil, false
	}
	folds := false
	for _, h := range heads {
		folds = folds || strings.Contains(h, anyCase)
		h = strings.ToLower(strings.ReplaceAll(h, anyCase, ""))
		if !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(h, k) }) {
			return nil, false
		}
	}
	if folds {
		heads = nil
	}
	return heads, true
}

// anyCase precedes a part of a head whose case is irrelevant. No pattern contains it.
const anyCase = "\x00"

// maxHeads bounds the beginnings of a pattern that are considered, and maxHead the bytes of each.
const (
	maxHeads = 256
	maxHead  = 24
)

// headsOf returns the possible beginnings of texts that a pattern matches, none if unknown; whole is whether they
// are complete texts.
func headsOf(re *syntax.Regexp) (heads []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return []string{anyCase + string(re.Rune)}, true
		}
		return []string{string(re.Rune)}, true
	case syntax.OpCapture:
		return headsOf(re.Sub[0])
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpQuest:
		if heads, whole = headsOf(re.Sub[0]); len(heads) > 0 {
			heads = append(heads, "")
		}
		return heads, whole
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				if len(heads) == 64 {
					return nil, false
				}
				heads = append(heads, string(c))
			}
		}
		return heads, true
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			h, all := headsOf(sub)
			if len(h) == 0 || len(heads)+len(h) > maxHeads {
				return nil, false
			}
			heads, whole = append(heads, h...), whole && all
		}
		return heads, whole
	case syntax.OpConcat:
		heads = []string{""}
		for _, sub := range re.Sub {
			h, all := headsOf(sub)
			if len(h) == 0 || len(heads)*len(h) > maxHeads || len(heads[0]) > maxHead {
				return heads, false
			}
			var longer []string
			for _, a := range heads {
				for _, b := range h {
					longer = append(longer, a+b)
				}
			}
			if heads = longer; !all {
				return heads, false
			}
		}
		return heads, true
	}
	return nil, false
}
