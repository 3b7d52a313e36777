package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

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
	must.Check(t, len(lines) >= 110, "too few sentences")
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
