package guard

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// told are sentences that state a credential, which is enclosed in « and » here.
var told = []string{
	"our staging password is «hunter2!»",
	"our staging password is «hunter2!», please keep it",
	"The password for staging is «hunter2!»",
	"the password of the billing database is «Tr0ub4dor&3».",
	"Password: «hunter2»",
	"password = «s3cr3t» on all of them",
	"PASSWORD for prod: «Sommer2024!»",
	"**Password**: `«hunter2»`",
	"password: \"«monkeys»\"",
	"the password is now «correct7horse»",
	"The password was changed to «Winter-2025!» yesterday",
	"please change the password to «hunter2!»",
	"The password has been reset to «aB3$xy»",
	"the passphrase is “«correct horse battery staple»”",
	"my password is '«monkeys»'",
	"password is «12345678»",
	"The Wi-Fi password is «4711».",
	"our wifi password is «p@ssw0rd» and the network is guest",
	"login: bob / pass: «hunter2!»",
	"pw: «x9!kLm»",
	"pwd is «Xk29fj»",
	"Das Passwort ist «hunter2!»",
	"Das Passwort lautet «Geheim123»",
	"Unser Kennwort für den Testserver lautet: «Sommer#24»",
	"das Datenbankpasswort ist jetzt «Zug7Halt»",
	"Passwort: «geheim99»",
	"das Kennwort wurde auf «Herbst2024!» geändert",
	"Kennwort ist „«apfelbaum»“",
	"la contraseña es «Verano2024!»",
	"le mot de passe est «Ete2024!»",
	"the token is «abc123def456»",
	"the API token for staging is «a8f3Zk29Qq».",
	"token: «tk-93kd-02kf»",
	"our secret is «hunter2!»",
	"the secret is \"«Gx82kd»\"",
	"secret = «4f8a2c1e»",
	"the api key is «9fK2mZ81xQ»",
	"the PIN is «4711»",
	"PIN: «0815»",
	"my pin code is «98431», do not tell",
	"Die PIN ist «4711».",
	"PIN for the door = «228190»",
	"the password is «SwordFish»",
	"password is «hunter2!» and the token is «abc123def456»",
	"the passcode is: «hunter22»",
}

// harmlessTold are sentences that state none.
var harmlessTold = []string{
	"the password is stored in 1Password",
	"The password is in 1Password.",
	"token is required",
	"PIN is four digits",
	"the PIN is 4 digits long",
	"the secret is to listen",
	"the secret is in the sauce",
	"the password manager is 1Password",
	"the password policy: at least 12 characters",
	"password is 8-character minimum",
	"the password is 12 characters long",
	"passwords are hashed with SHA256",
	"the password is hashed with argon2id",
	"the token is base64-encoded",
	"the token is a JWT signed with HS256",
	"the token is OAuth2.",
	"the secret is base64.",
	"the token is sent to OAuth2Server",
	"the token is short-lived",
	"the token is valid for 30min",
	"the token is valid until 2025-01-31",
	"the token is 2025-01-31",
	"the token expired at 12:30:00",
	"the password is case-sensitive",
	"password is wrong!",
	"Is the password is correct?",
	"the password is <password>",
	"the password is ${DB_PASSWORD}",
	"the password is DB_PASSWORD",
	"the password is DB_PASSWORD_2",
	"the password is ********",
	"the password is [secret:password-in-prose:0a1b]",
	"password: required",
	"password: 'string'",
	"the password is \"changeme\"",
	"use the password to log in to web2.example.com",
	"the password reset link is https://example.com/r/83jd9",
	"the token endpoint is /oauth2/token",
	"the token count is 4096",
	"max tokens is 4096, the token limit: 8192",
	"the tokenizer is cl100k_base",
	"we pass 3 arguments: a1b2c3",
	"tests pass: 1234 of them",
	"we pin Go to 1.24.3",
	"pin: 13 is the LED",
	"the pin is bent",
	"spin: 4711",
	"the secretary is Bob42",
	"the password is the same as for GitHub",
	"the password is in config2.json",
	"the secret is in us-east-1",
	"the password is your user's",
	"the password is kept by the ops-team",
	"password is N/A",
	"the secret is e.g. a sentence",
	"the password is getPassword()",
	"the password is bob@example.com",
	"das Passwort ist im Tresor",
	"das Kennwort ist falsch!",
	"Die PIN ist vierstellig.",
	"das Token ist abgelaufen.",
	"the token is GitHub's",
	"the token is HTTP2-only",
	"the token is v1.2.3",
	"secret is the new open",
	"a token of 256 bits: 32 bytes",
	"\"token\": \"id\"",
	"the password is \"must not be empty\"",
	"The secret is that nobody reads it: 3 people did.",
	"the password field: type2",
	"the password is 90-day rotated",
}

// TestProse searches for credentials stated in sentences, and for none in sentences about credentials.
func TestProse(t *testing.T) {
	for _, s := range told {
		text := strings.NewReplacer("«", "", "»", "").Replace(s)
		var want []string
		for rest := s; ; {
			_, after, ok := strings.Cut(rest, "«")
			if !ok {
				break
			}
			var value string
			value, rest, _ = strings.Cut(after, "»")
			want = append(want, value)
		}
		var got []string
		for _, f := range FindProse(text) {
			got = append(got, text[f.Start:f.End])
			must.Equal(t, f.Level, Warns, text, ": ", f)
		}
		must.Equal(t, strings.Join(got, "|"), strings.Join(want, "|"), text, ": found ", got, ", want ", want)
	}
	for _, s := range harmlessTold {
		for _, f := range FindProse(s) {
			t.Errorf("%q: found %q by %s", s, s[f.Start:f.End], f.Rule)
		}
	}
	if len(told) < 40 || len(harmlessTold) < 40 {
		t.Error("too few sentences")
	}
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
