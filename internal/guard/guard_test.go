package guard

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// wholes are the patterns as they are in the files, by the ids of their rules.
var wholes = map[string]*regexp.Regexp{}

// slowly is Find by matching the whole text with every rule.
func slowly(s string) []Finding {
	f := finder{set: all(), s: s, work: 1 << 40}
	for _, r := range f.rules {
		has := func(w string) bool { return strings.Contains(strings.ToLower(s), w) }
		if !slices.ContainsFunc(r.keywords, has) {
			continue
		}
		r.ready()
		whole, ok := wholes[r.id]
		if !ok {
			whole = regexp.MustCompile(r.ruleText.pattern)
			wholes[r.id] = whole
		}
		for _, m := range whole.FindAllStringSubmatchIndex(s, -1) {
			f.judge(r, m, 0)
		}
	}
	return f.findings()
}

// TestRulesAreRead compares the parsed rules with those of a complete TOML parser.
func TestRulesAreRead(t *testing.T) {
	for name, text := range map[string]string{"gitleaks": gitleaksFile, "mnem": ownFile} {
		type list struct {
			RegexTarget, Condition    string
			Regexes, Stopwords, Paths []string
		}
		var want struct {
			Rules []struct {
				ID, Description, Regex string
				Entropy                float64
				SecretGroup            int
				Keywords               []string
				Allowlists             []list
			}
			Allowlist list
		}
		must.Get(toml.Decode(text, &want))(t)
		got := must.Get(readRules(text))(t, name)
		same := func(a allowText, b list) bool {
			return a.target == b.RegexTarget && a.all == (b.Condition == "AND") &&
				slices.Equal(a.patterns, b.Regexes) && slices.Equal(a.words, b.Stopwords) &&
				slices.Equal(a.paths, b.Paths)
		}
		if len(got.rules) != len(want.Rules) || len(got.rules) < 8 || !same(got.allow, want.Allowlist) {
			t.Fatalf("%s: %d rules of %d", name, len(got.rules), len(want.Rules))
		}
		for i, w := range want.Rules {
			g := got.rules[i]
			if g.id != w.ID || g.about != w.Description || g.pattern != w.Regex || g.group != w.SecretGroup ||
				g.entropy != int(w.Entropy*1000+.5) || !slices.Equal(g.keywords, w.Keywords) ||
				!slices.EqualFunc(g.allow, w.Allowlists, same) {
				t.Errorf("%s: %+v, want %+v", name, g, w)
			}
		}
	}
}

// TestRulesHold is about all files together: each pattern compiles, and keywords are in lower case.
func TestRulesHold(t *testing.T) {
	rules := all().rules
	refused, leading := 0, 0
	for _, r := range rules {
		r.ready()
		if r.level == Refuses {
			refused++
		}
		if r.leads {
			leading++
		}
		for _, w := range r.keywords {
			must.True(t, w == strings.ToLower(w) && len(w) >= 2, "%s: keyword %q", r.id, w)
		}
		must.True(t, r.about != "" && r.id != RuleLimit, "%q, %q", r.id, r.about)
	}
	must.True(t, len(rules) >= 220 && refused >= 125 && leading >= 190,
		"%d rules, %d refused, %d lead", len(rules), refused, leading)
	if IsRule("no-such-rule") || !IsRule("private-key") || len(Rules()) != len(rules)+1 || !IsRule(RuleProse) {
		t.Error("rules are not listed")
	}
	_, err := newSet(gitleaksFile, ownFile, "no-such-rule\n")
	must.True(t, err != nil && strings.Contains(err.Error(), "no-such-rule"),
		"a rule that is not there is refused by: %v", err)
	for _, bad := range []string{"[x]", "[[rules]]\nid = x", "[[rules]]\nid", "[[rules]]\nkeywords = [\n\"a\"",
		"[[rules]]\nkeywords = \"a\"", "[[rules]]\nid = '''a", "[[rules]]\nentropy = 1.2345", "[[rules]]\nid = \"a\"b"} {
		must.True(t, must.Err(readRules(bad)) != nil, "%q is read", bad)
	}
}

// TestSamples makes texts that match each rule's pattern and compares their findings, within prose, with matching
// every rule on the whole text.
func TestSamples(t *testing.T) {
	frames := []string{"%", "The deploy used % last week.", "a: 1\nb: \"%\"\nc: 3", "x=%\n",
		strings.Repeat("Nothing to see in this sentence. ", 12) + "% " + strings.Repeat("And more of it. ", 12)}
	for _, rule := range all().rules {
		h := fnv.New64a()
		_, _ = h.Write([]byte(rule.id))
		r := rand.New(rand.NewPCG(7, h.Sum64())) // another rule changes no sample of this one
		known := 0
		for i := range 10 {
			s := strings.Replace(frames[i%len(frames)], "%", sampleOf(r, rule), 1)
			if i >= 5 && len(s) < before {
				s = rule.keywords[0] + " " + s
			}
			got, want := Find(s), slowly(s)
			for _, w := range want {
				if w.Level == Warns && w.End-w.Start < 8 {
					continue // such as a user without a password
				}
				there := func(g Finding) bool { return g.Start < w.End && w.Start < g.End && g.Level >= w.Level }
				must.Require(t, slices.ContainsFunc(got, there),
					"%s: %q\nfound %+v\nwant  %+v", rule.id, s, got, want)
				if w.Rule == rule.id {
					known++
				}
			}
			for _, g := range got {
				if g.Level == Refuses && !slices.ContainsFunc(want, func(w Finding) bool { return w.Level == Refuses }) {
					t.Fatalf("%s: %q\nfound %+v\nwant  %+v", rule.id, s, got, want)
				}
			}
		}
		must.True(t, known != 0 || rule.level != Refuses, "%s: no sample of its pattern is found", rule.id)
	}
}

// TestEnds finds credentials whatever stands behind them in prose.
func TestEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	tried := 0
	for _, rule := range all().rules {
		whole := regexp.MustCompile(rule.ruleText.pattern)
		if rule.level != Refuses || !strings.Contains(rule.ruleText.pattern, end) {
			continue
		}
		var text string
		for range 100 { // a sample whose credential is a separate group
			s := sampleOf(r, rule)
			m := whole.FindStringSubmatchIndex(s)
			if len(m) > 3 && m[3] > 0 && rulesOf(Find(s[:m[3]])) == rule.id {
				text = s[:m[3]]
				break
			}
		}
		if text == "" {
			continue // another rule reports it
		}
		tried++
		for _, behind := range []string{" ", ", put it away", ". Then", ".", ") and", "]", "}", ">", "**", "!", "?", "。", ": x", "&a=b", "|", "\n"} {
			got := rulesOf(Find(text + behind))
			must.True(t, got == rule.id, "%s: %q with %q behind it: %q", rule.id, text, behind, got)
		}
	}
	must.True(t, tried >= 60, "%d rules tried", tried)
}

// word returns n random letters and digits.
func word(r *rand.Rand, n int) string {
	const code = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for range n {
		b.WriteByte(code[r.IntN(len(code))])
	}
	return b.String()
}

func rulesOf(list []Finding) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Rule)
	}
	return strings.Join(out, " ")
}

// TestFind checks the findings in texts as people write them. Credentials are assembled here, so that the source
// has none.
func TestFind(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	aws := "AKIA" + "Q4WK2ZBR7DNX5TFM"
	github := "ghp_" + word(r, 36)
	key := func(kind string) string {
		return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + word(r, 64) + "\n" + word(r, 64) + "\n"
	}
	end := "-----END PRIVATE KEY-----"
	for _, c := range []struct{ text, rules string }{
		{"Deploys use " + aws + " for now", "aws-access-token"},
		{aws, "aws-access-token"},
		{`{"token":"` + github + `"}`, "github-pat"},
		{"export GITHUB_TOKEN=" + github, "github-pat"},
		{github + " and " + aws, "github-pat aws-access-token"},
		{key("RSA ") + end, "private-key"},
		{key("OPENSSH ") + end, "private-key"},
		{key(""), "private-key"}, // cut off
		{strings.ReplaceAll(key("EC ")+end, "\n", `\n`), "private-key"},
		{key("") + end + "\n" + key("") + end, "private-key private-key"},
		{"sk_" + "live_" + word(r, 24), "stripe-access-token"},
		{"the key is sk_" + "live_" + word(r, 24) + ", put it in .env", "stripe-access-token"},
		{"the key is sk-" + word(r, 48), "sk-api-key"},
		{"the key is sk-or-v1-" + strings.Repeat("0a9f", 16), ""},
		{"mnem-ed25519-" + "secret-" + strings.Repeat("a2b", 18) + "xy", "mnem-signing-key"},
		{"https://hooks." + "slack.com/services/T" + strings.ToUpper(word(r, 10)) + "/B" +
			strings.ToUpper(word(r, 10)) + "/" + word(r, 24), "slack-webhook-url"},
		{"The admin password=hunt" + "er22 is on the wiki", "password-assignment"},
		{"password: Tr0ub4" + "dor&3", "password-assignment"},
		{"密码：Tr0ub4" + "dor&3。", "password-in-han"},
		{"postgres://app:s3cr" + "etpw@db.internal/app", "password-in-url"},
		{"api_key = \"" + word(r, 32) + "\"", "generic-api-key"},
		{"redis://:s3cr" + "etpw@cache.internal:6379/0", "password-in-url"},
		{"amqp://:Zk29" + "fjq@[::1]/", "password-in-url"},
		{"mysql://root:pa$" + "sw0rd@db_1/x", "password-in-url"},
		{"Authorization: Basic dXNlcjp" + "odW50ZXIy", "authorization-header"},
		{`-H "authorization: basic dXNlcjpodW5` + `0ZXIy"`, "authorization-header"},
		{`{"Authorization": "Bearer a1b2C3` + `d4e5F6"}`, "authorization-header"},
		{"DOCKER=dckr_" + "pat_" + word(r, 27), "docker-access-token"},
		{"log in with dckr_" + "oat_" + word(r, 32) + ".", "docker-access-token"},
		{`{"auths": {"ghcr.io": {"auth": "dXNlcjpo` + `dW50ZXIy"}, "x.io": {"auth": "Ym9iOmh1` + `bnRlcjI="}}}`,
			"docker-config-auth docker-config-auth"},
		{`"{\"auths\":{\"ghcr.io\":{\"auth\":\"dXNlcjpo` + `dW50ZXIy\"}}}"`, "docker-config-auth"},

		{"", ""},
		{"Alice leads infra; the token bucket refills at 5 per second", ""},
		{"password: required, at least twelve characters", ""},
		{"The password is reset every month. Secret: none.", ""},
		{"password=${DB_PASSWORD}", ""},
		{"api_key: <your-api-key>", ""},
		{"key: 123e4567-e89b-12d3-a456-426614174000", ""},
		{"token 9fceb02d0ae598e95dc970b74767f19372d61af8", ""},
		{"secret_key: 9fceb02d0ae598e95dc970b74767f19372d61af8", ""},
		{"commit key=9fceb02d0ae5", ""},
		{"api_token = bafyreicolr24abs4ltwhawlb4vytjq4u5ufidxu6umkelqgy3x6nzubqhy", ""},
		{"key = QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKAswn"[:6] + "Qm" + strings.Repeat("Yw", 22), ""},
		{`"integrity": "sha512-z1bmVf7OcDnzcHdVJSHD2Hx9mGcGtWqwcWxAcqYdYtxRRxBIhiBxjIrZFQBpWqjDNvoYzPIeQkN1Jxd0mcTXCg=="`, ""},
		{`integrity key="sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`, ""},
		{"h1:DDGfHa7BWjL4YnC6+E63dPcxHo2sUxDIu8g3QgEJdRY=", ""},
		{"aws_access_key_id = AKIAIOSFODNN7EXAMPLE", ""},
		{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""},
		{"-----BEGIN PUBLIC KEY-----\n" + word(r, 64) + "\n-----END PUBLIC KEY-----", ""},
		{"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", ""},
		{"See https://example.com/docs/API_reference_v2.html?page=12", ""},
		{"internal/cli/commands_test.go:120: ResolveTokenFromEnvironment2", ""},
		{"2026-11-22T22:11:34.000000Z", ""},
		{"ghp_" + strings.Repeat("x", 36), ""},
		{"http://:8080/ and http://host:8080/@user", ""},
		{"redis://:${REDIS_PASSWORD}@cache", ""},
		{"redis://:<password>@cache", ""},
		{"Authorization: Basic authentication is refused", ""},
		{"Authorization: Bearer <token>", ""},
		{"authorization: basic, then bearer tokens", ""},
		{`{"auth": "required", "kind": {"auth": "OAUTH/PKCE"}}`, ""},
	} {
		got := Find(c.text)
		must.Equal(t, rulesOf(got), c.rules, c.text, ": found ", got, ", want")
	}
	got := Find("uses " + aws + ".")
	must.True(t, len(got) == 1 && got[0].Start == 5 && got[0].End == 25 && got[0].Level == Refuses,
		"found %+v", got)
}

// TestEntropy holds the integer measure to a few known values.
func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		text         string
		above, below int
	}{{"abcd", 1999, 2001}, {"aabb", 999, 1001}, {"aaab", 810, 812}, {"abcdefghijklmnop", 3999, 4001},
		{"aaaaaaaaaaaaaaaab", 322, 324}} {
		must.True(t, entropyAbove(c.text, c.above) && !entropyAbove(c.text, c.below),
			"%q is not between %d and %d", c.text, c.above, c.below)
	}
}

func TestIsSecret(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, w := range []string{"ghp_" + word(r, 36), word(r, 40), "AKIA" + "Q4WK2ZBR7DNX5TFM", word(r, 24),
		"/x/" + word(r, 32), "NAME=" + word(r, 32)} {
		must.True(t, IsSecret(w), "%q is none", w)
	}
	for _, w := range []string{"", "Alice", "svc/billing", "internal/cli/commands_test.go", "PostgreSQL 16.2",
		"getUserByEmailAddressAndTenantId", "https://wiki.example.com/db/migration-2026-11-22",
		"123e4567-e89b-12d3-a456-426614174000", "9fceb02d0ae598e95dc970b74767f19372d61af8",
		"bafyreicolr24abs4ltwhawlb4vytjq4u5ufidxu6umkelqgy3x6nzubqhy", "gpt-4o-mini-2024-07-18", "KM-402",
		"AKIAIOSFODNN7EXAMPLE", "x86_64-unknown-linux-gnu", "claude-opus-4-20250514"} {
		must.True(t, !IsSecret(w), "%q is one", w)
	}
}

// holds checks the invariants of a list of findings.
func holds(t *testing.T, s string) {
	t.Helper()
	got := Find(s)
	end := 0
	for i, f := range got {
		limit := f.Rule == RuleLimit && i == len(got)-1
		if !limit && (f.Start < end || f.End <= f.Start) || f.End > len(s) || f.Level < Warns || f.Level > Refuses ||
			!limit && !IsRule(f.Rule) {
			t.Fatalf("%q: %+v", s, got)
		}
		end = f.End
	}
	must.Same(t, got, Find(s), s)
	IsSecret(s)
}

func FuzzFind(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, rule := range all().rules {
		f.Add(sampleOf(r, rule))
	}
	f.Add("\xff\xfe password: \xff\x00\xff\x00\xff\x00\xff\x00\xff 密码：")
	f.Fuzz(func(t *testing.T, s string) { holds(t, s) })
}

// TestWork uses texts that are hard on patterns: Find ends, and reports where it stopped searching.
func TestWork(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	blob := word(r, 1<<18)
	for _, s := range []string{blob, strings.Repeat("curl: ", 1<<12), strings.Repeat("/ey"+strings.Repeat("A", 17)+".ey", 1<<12),
		strings.Repeat("-----BEGIN PRIVATE KEY-----", 1<<11), strings.Repeat("key: ", 1<<14), strings.Repeat("sk ", 1<<14)} {
		holds(t, s)
	}
	if got := Find(blob); len(got) > 0 {
		t.Errorf("random letters: %+v", got)
	}
	token := "ghp_" + word(r, 36)
	must.Equal(t, rulesOf(Find(blob+" "+token+" "+blob)), "github-pat", "among random letters")
	hard := strings.Repeat("curl: ", 1<<12)
	must.Equal(t, rulesOf(Find(hard)), RuleLimit, "no limit")
}

// TestSourceHasNone reads the package's own sources.
func TestSourceHasNone(t *testing.T) {
	files := must.Get(os.ReadDir("."))(t)
	read := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") {
			continue
		}
		data := must.Get(os.ReadFile(file.Name()))(t)
		read++
		for _, f := range Find(string(data)) {
			if f.Level == Refuses {
				t.Errorf("%s: %s", file.Name(), f.Rule)
			}
		}
	}
	must.Require(t, read >= 8, "only %d files", read)
}

// TestVersion: other rules, or the same ones in other files, are another version.
func TestVersion(t *testing.T) {
	seen := map[[32]byte]bool{}
	for _, files := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"a", "b", "d"}, {"", "", ""}} {
		seen[version(files[0], files[1], files[2])] = true
	}
	must.True(t, len(seen) == 5 && Version() == version(gitleaksFile, ownFile, refusedFile),
		"%d versions of 5 sets of files", len(seen))
}

// TestSettingsWithinMaps: an entry of a map is read with its name, as a property is.
func TestSettingsWithinMaps(t *testing.T) {
	secret := ipld.StringValue("hunt" + "er22Zq8Lk93xT")
	at := func(v ipld.Value) *graph.Node {
		return &graph.Node{Type: "T", Props: []ipld.Entry{{Key: "m", Value: v}}}
	}
	entry := ipld.MapValue(ipld.Entry{Key: "password", Value: secret})
	for name, v := range map[string]ipld.Value{"map": entry, "list": ipld.ListValue(entry)} {
		list := Node(at(v))
		must.True(t, len(list) == 1 && list[0].Field == "node.props.m", "%s: %+v", name, list)
	}
	if list := Node(at(ipld.MapValue(ipld.Entry{Key: "colour", Value: secret}))); len(list) > 0 {
		t.Errorf("found %+v", list)
	}
}

// TestProse searches sentences for the credentials that they state, enclosed in « and » in the file, and sentences
// about credentials, which state none.
func TestProse(t *testing.T) {
	data := must.Get(os.ReadFile(filepath.Join("testdata", "prose.txt")))(t)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, s := range lines {
		text := strings.NewReplacer("«", "", "»", "").Replace(s)
		var want, got []string
		for _, m := range regexp.MustCompile("«(.*?)»").FindAllStringSubmatch(s, -1) {
			want = append(want, m[1])
		}
		for _, f := range FindProse(text) {
			got = append(got, text[f.Start:f.End])
			must.Equal(t, f.Level, Warns, text, ": ", f)
		}
		must.Equal(t, strings.Join(got, "|"), strings.Join(want, "|"), text)
	}
	must.True(t, len(lines) >= 110, "too few sentences")
}

// TestMessage masks quoted beginnings of credentials, and nothing else.
func TestMessage(t *testing.T) {
	token := "github_pat_" + "11ABCDEFG0q8Zt5Xw2Lk9R_v3Bn7Mc1Yd4Fs6Hg0Jp2Kq8T"
	for s, want := range map[string]string{
		`tag "` + token[:40] + `"… is there`:                `tag "[secret:github-fine-grained-pat]"… is there`,
		`tag "` + token[:40] + `": want CID`:                `tag "[secret:github-fine-grained-pat]": want CID`,
		"open https:/u:s3cr" + "etpw9@127.0.0.1/x: no file": "open https:/u:[secret:password-in-url]@127.0.0.1/x: no file",
		`name "-----BEGIN RSA PRIVATE KEY-----\nMIIE4f"…`:   `name "[secret:private-key]`,
		`tag "v1.2.3" exists`:                               `tag "v1.2.3" exists`,
		"commit bafyreicolr24abs4ltwhawlb4vytjq4u5ufidxu6umkelqgy3x6nzubqhy is not there": "commit " +
			"bafyreicolr24abs4ltwhawlb4vytjq4u5ufidxu6umkelqgy3x6nzubqhy is not there",
		"open /tmp/a@b:/c/internal/cli/errors_test.go:120": "open /tmp/a@b:/c/internal/cli/errors_test.go:120",
		"set MNEM_BUCKET_PATH_STYLE to 0 or 1":             "set MNEM_BUCKET_PATH_STYLE to 0 or 1",
		"/home/a/.claude/skills/mnem/SKILL.md was edited":  "/home/a/.claude/skills/mnem/SKILL.md was edited",
		"": "",
	} {
		must.Equal(t, Message(s), want, s)
	}
}

// sample returns a text that a pattern matches, with random letters and digits where it allows a choice, so that no
// test has a credential in its source.
func sample(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(member(r, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('.') // most often it stands for a dot that was not escaped
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(r, sub, b)
		}
	case syntax.OpAlternate:
		sample(r, re.Sub[r.IntN(len(re.Sub))], b)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		low, high := re.Min, re.Max
		switch re.Op {
		case syntax.OpStar:
			low, high = 0, 0
		case syntax.OpPlus:
			low, high = 1, 4
		case syntax.OpQuest:
			low, high = 0, 1
		}
		n := low
		if low == 0 && high > 20 {
			high = 0 // what may stand between: nothing
		}
		if high > low {
			n += r.IntN(min(high-low, 20) + 1)
		}
		for range n {
			sample(r, re.Sub[0], b)
		}
	}
}

// member returns a member of a class, preferring characters that people write.
func member(r *rand.Rand, class []rune) rune {
	var plain []rune
	for i := 0; i < len(class); i += 2 {
		for c := class[i]; c <= class[i+1] && c < 0x7f; c++ {
			if c > 0x20 && isRun[byte(c)] && c != '=' && c != '.' && c != '/' {
				plain = append(plain, c)
			}
		}
	}
	if len(plain) == 0 {
		return class[0]
	}
	return plain[r.IntN(len(plain))]
}

// sampleOf returns a text that a rule's pattern matches.
func sampleOf(r *rand.Rand, rule *rule) string {
	re, err := syntax.Parse(rule.ruleText.pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	sample(r, re, &b)
	return b.String()
}
