package text

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// analyzer returns an analyser or ends the test.
func analyzer(t testing.TB, lang string) *Analyzer {
	t.Helper()
	a, err := New(lang)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// termCase is a text and its terms, separated by spaces.
type termCase struct{ text, want string }

// checkTerms compares the terms of each text.
func checkTerms(t *testing.T, lang string, cases []termCase) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	a := analyzer(t, lang)
	for _, c := range cases {
		got, want := a.Terms(c.text), strings.Fields(c.want)
		if len(want) == 0 {
			want = nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("terms of %q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestFolding(t *testing.T) {
	checkTerms(t, "none", []termCase{
		{"", ""},
		{"Hello, World!", "hello world"},
		{"Crème brûlée", "creme brulee"},
		{"Cre\u0300me bru\u0302le\u0301e", "creme brulee"},
		{"Straße STRASSE GROẞ", "strasse strasse gross"},
		{"Ⅷ ﬁne ＦＵＬＬ１２ ①②", "viii fine full12 12"},
		{"İstanbul ISTANBUL ıstanbul", "istanbul istanbul ıstanbul"},
		{"ΟΔΥΣΣΕΎΣ Οδυσσεύς ᾳ", "οδυσσευσ οδυσσευσ α"},
		{"Ёлка ЁЛКА", "елка елка"},
		{"ǅabcd ǆabcd", "dzabcd dzabcd"},
		{"x² m³ H₂O", "x2 m3 h2o"},
		{"\U0001D400\U0001D401", "ab"},
		{"Ꭰꭰ ꭰꭰ", "ᎠᎠ ᎠᎠ"},
		{"한국어 검색", "한국어 검색"},
		{"½ 5½ ⑴ ﷺ ™", "5"},
	})
}

func TestWords(t *testing.T) {
	checkTerms(t, "none", []termCase{
		{"don't don’t donʼt", "don't don't don't"},
		{"'tis dogs' ''a'' o''b", "tis dogs a o b"},
		{"snake_case kebab-case", "snake case kebab case"},
		{"3.14 v1.2.3 10.0.0.1", "3.14 v1.2.3 10.0.0.1"},
		{"1,234,567.89 1, 2 ,3 4,", "1234567.89 1 2 3 4"},
		{"end. a.b 1.b b.1 1..2 .5", "end a b 1 b b 1 1 2 5"},
		{"１２.３ ٣.١٤", "12.3 ٣.١٤"},
		{"zero\u200cwidth soft\u00adhyphen w\u2060j z\u200bs", "zerowidth softhyphen wj z s"},
		{"don\u200d'\u200dt 1\u00ad.\u00ad5 1\u0301.5", "don't 1.5 1.5"},
		{"\u0301 \u0301'\u0301 \u00ad\u200d \ufe0f a\u0301", "a"},
		{"a@b.co https://x.org/p?q=1#r", "a b co https x org p q 1 r"},
		{"2024-05-01T12:30:00Z", "2024 05 01t12 30 00z"},
		{"C++ C# .NET $100 50%", "c c net 100 50"},
		{"#tag @user a/b a\\b", "tag user a b a b"},
	})
}

func TestParts(t *testing.T) {
	checkTerms(t, "none", []termCase{
		{"HTTPServer", "httpserver http server"},
		{"parseURLQuery", "parseurlquery parse url query"},
		{"camelCase PascalCase", "camelcase camel case pascalcase pascal case"},
		{"iPhone15Pro", "iphone15pro i phone15 pro"},
		{"utf8Decode SHA256Sum", "utf8decode utf8 decode sha256sum sha256 sum"},
		{"HTTP2server 3Com v2API", "http2server 3com v2api v2 api"},
		{"NASA Hello hello A1B2 x1y2", "nasa hello hello a1b2 x1y2"},
		{"O'Brien's macOS'sKernel", "o'brien's macos'skernel mac os's kernel"},
		{"éÉcole e\u0301E\u0301cole", "eecole e ecole eecole e ecole"},
		{"МойКласс", "моикласс мои класс"},
		{"aﬁBﬁ", "afibfi afi bfi"},
		{"MAX_RETRIES fooBar_bazQux", "max retries foobar foo bar bazqux baz qux"},
		{"get\u00adX ge\u200dtX", "getx get x getx get x"},
	})
}

// TestPartsLimit: a word longer than the limit is data, not an identifier.
func TestPartsLimit(t *testing.T) {
	a := analyzer(t, "none")
	pair := strings.Repeat("aB", maxSplitRunes/2)
	got := a.Terms(pair)
	if len(got) != 1+maxSplitRunes/2+1 {
		t.Errorf("%d terms at the limit, want whole and %d parts", len(got), maxSplitRunes/2+1)
	}
	for _, s := range []string{pair + "a", pair + "B", strings.Repeat("aB", 1e5)} {
		if got := a.Terms(s); len(got) != 1 || got[0] != strings.ToLower(pair[:MaxTermRunes]) {
			t.Errorf("%d terms above the limit, want the cut word alone", len(got))
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ unit, folded string }{
		{"a", "a"}, {"É", "e"}, {"я", "я"}, {"9", "9"}, {"ab\u0301", "ab"}, {"ﬃ", "ffi"},
	} {
		folded := []rune(strings.Repeat(c.folded, 100))
		got := analyzer(t, "none").Terms(strings.Repeat(c.unit, 100))
		if want := string(folded[:MaxTermRunes]); len(got) != 1 || got[0] != want {
			t.Errorf("100 times %q gives %q, want %q", c.unit, got, want)
		}
	}
	exact := strings.Repeat("x", MaxTermRunes)
	if got := analyzer(t, "none").Terms(exact); len(got) != 1 || got[0] != exact {
		t.Errorf("a word of the greatest length gives %q", got)
	}
}

func TestBigrams(t *testing.T) {
	// Folding leaves voicing marks as code points of their own.
	const ga, gi = "\u304b\u3099", "\u304d\u3099"
	for _, lang := range []string{"none", "en"} {
		checkTerms(t, lang, []termCase{
			{"日本語", "日本 本語"},
			{"日", "日"},
			{"日本語テキスト検索", "日本 本語 テキ キス スト 検索"},
			{"がぎ か\u3099き\u3099", ga + gi + " " + ga + gi},
			{"が か\u3099", ga + " " + ga},
			{"ｶﾀｶﾅ ラーメン ﾗｰﾒﾝ", "カタ タカ カナ ラー ーメ メン ラー ーメ メン"},
			{"\u3099 \u3099\u3099 か\u3099\u3099か",
				"\u3099 \u3099\u3099 " + ga + "\u3099 \u3099か"},
			{"㌀", "アハ\u309a ハ\u309aー ート"},
			{"⽇⽊ 豈", "日木 豈"},
			{"𠮷野家", "𠮷野 野家"},
			{"人々 〇一", "人々 〇一"},
			{"ภาษาไทย", "ภา าษ ษา าไ ไท ทย"},
			{"ລາວ ខ្មែរ မြန်", "ລາ າວ ខ្ ្ម មែ ែរ မြ ြန န်"},
			{"Go言語v2", "go 言語 v2"},
			{"日\u200d本 日\ufe00本 日・本", "日本 日本 日 本"},
			{"東京。大阪", "東京 大阪"},
			{"中국日", "中 국 日"},
		})
	}
}

func TestScripts(t *testing.T) {
	checkTerms(t, "en", []termCase{
		{"مرحبا بالعالم", "مرحبا بالعالم"},
		{"\u200fשלום עולם\u200f!", "שלום עולם"},
		{"हिन्दी में खोज", "हिन्दी में खोज"},
		{"नि\u200dर्ण", "निर्ण"},
		{"👩\u200d👩\u200d👧 1️⃣ ❤️ 🇩🇪 👍🏽", "👩 👩 👧 1 ❤ 🇩🇪 👍"},
		{"ship🚀it 🚀🔥 🏽 🇩🇪🇫🇷🇪 🇩\u200d🇪 © → ✓ ├── ™ Ⓜ", "ship 🚀 🚀 🔥 🇩🇪 🇫🇷 🇪 🇩🇪"},
		{"ﺳﻼﻡ", "سلام"},
		{"Привет мир", "привет мир"},
		{"Việt Nam", "viet nam"},
		{"\ufeffbom\u2028line", "bom line"},
	})
}

func TestHostileBytes(t *testing.T) {
	checkTerms(t, "none", []termCase{
		{"\xff\xfeabc\xc3", "abc"},
		{"a\xffb", "a b"},
		{"caf\xe9 bar", "caf bar"},
		{"x\xed\xa0\x80y", "x y"},
		{"x\xc0\xafy\xf4\x90\x80\x80z", "x y z"},
		{"a\x00b\x01c", "a b c"},
		{"don'\xfft 1.\xff2", "don t 1 2"},
		{"日\xe6本", "日 本"},
	})
}

func TestEnglish(t *testing.T) {
	checkTerms(t, "en", []termCase{
		{"The keeper's notebooks were surprisingly complete.", "keeper notebook surpris complet"},
		{"I'm sure they don't, won't and can't", "sure"},
		{"I’m DON’T It's", ""},
		{"to be or not to be", ""},
		{"Running runner runs ran", "run runner run ran"},
		{"generally generic commune arsenic", "general generic commune arsenic"},
		{"University universe universal", "univers univers univers"},
		{"skies dying early news", "sky die earli news"},
		{"isReady toString theOthers", "isreadi readi tostr string theother other"},
		{"run2s naïvely x86", "run2s naiv x86"},
		{"l'hôpital's O'Reilly's", "l'hopit o'reilli"},
	})
	checkTerms(t, "", []termCase{{"The cats", "cat"}})
}

func TestLanguages(t *testing.T) {
	for _, lang := range []string{"de", "EN", "english", " ", "none "} {
		if _, err := New(lang); !errors.Is(err, ErrUnknownLanguage) {
			t.Errorf("New(%q) gives %v, want ErrUnknownLanguage", lang, err)
		}
	}
	if Version != 1 {
		t.Error("the version changed: released versions stay, and their goldens with them")
	}
}

// TestStop: the walk ends at any point at which the caller stops.
func TestStop(t *testing.T) {
	const s = "the HTTPServer 日本語 が plain ①word iPhoneProMax 漢 end"
	for _, lang := range []string{"none", "en"} {
		a := analyzer(t, lang)
		all := a.Terms(s)
		for n := 1; n <= len(all); n++ {
			var got []string
			a.Each(s, func(term string) bool {
				got = append(got, term)
				return len(got) < n
			})
			if diff := cmp.Diff(all[:n], got); diff != "" {
				t.Errorf("first %d terms (-want +got):\n%s", n, diff)
			}
		}
	}
}

// TestNested: an analyser may be used from within its own callback, and by many goroutines.
func TestNested(t *testing.T) {
	a := analyzer(t, "en")
	want := a.Terms(prose)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var got []string
			a.Each(prose, func(term string) bool {
				if inner := a.Terms("Running HTTPServers"); inner[0] != "run" {
					t.Errorf("inner terms are %q", inner)
				}
				got = append(got, term)
				return true
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("terms differ between goroutines (-want +got):\n%s", diff)
			}
		})
	}
	wg.Wait()
}
