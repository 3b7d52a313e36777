package guard

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// RuleProse is the id of findings of FindProse only: a password, token or PIN stated in a sentence.
const RuleProse = "password-in-prose"

const aboutProse = "A password, token or PIN that a sentence tells, as in: the password is …"

// FindProse returns the findings of Find and credentials stated in sentences, with the rule RuleProse: a name of a
// credential, a verb or sign, and a value of suitable shape. It is for conversations; it reads the whole text.
func FindProse(s string) []Finding {
	f := finder{set: all(), s: s, work: workEach*len(s) + workFree}
	for _, at := range spansOf(s) {
		f.words.each(s, at.start, at.end, f.hit)
	}
	f.prose()
	return f.findings()
}

// credentialKind says which values a name of credentials may have.
type credentialKind int

const (
	ofPassword credentialKind = iota + 1 // anything that is no word
	ofToken                              // values that are longer or end the clause
	ofPIN                                // digits
)

// credentialName is a name for credentials in sentences.
type credentialName struct {
	text   string // in lower case
	kind   credentialKind
	within bool // compounds may end with it, as in Datenbankpasswort
	signs  bool // it is no name without a sign, as in pass: …
}

var credentialNames = []credentialName{
	{text: "password", kind: ofPassword, within: true},
	{text: "passwort", kind: ofPassword, within: true},
	{text: "kennwort", kind: ofPassword, within: true},
	{text: "passphrase", kind: ofPassword, within: true},
	{text: "passcode", kind: ofPassword, within: true},
	{text: "passwd", kind: ofPassword, within: true},
	{text: "contraseña", kind: ofPassword},
	{text: "mot de passe", kind: ofPassword},
	{text: "pwd", kind: ofPassword},
	{text: "pw", kind: ofPassword},
	{text: "pass", kind: ofPassword, signs: true},
	{text: "secret key", kind: ofToken},
	{text: "secret", kind: ofToken},
	{text: "token", kind: ofToken},
	{text: "api key", kind: ofToken},
	{text: "api-key", kind: ofToken},
	{text: "apikey", kind: ofToken},
	{text: "pin code", kind: ofPIN},
	{text: "pin-code", kind: ofPIN},
	{text: "pin", kind: ofPIN},
}

// firstOfNames marks the first bytes of these names.
var firstOfNames = func() (table [256]bool) {
	for _, n := range credentialNames {
		table[n.text[0]] = true
		table[n.text[0]-'a'+'A'] = true
	}
	return table
}()

// Bounds of what is read after a name.
const (
	clauseBytes = 120 // until the value begins
	clauseWords = 8   // before the value
	valueBytes  = 128 // of a value
)

// Words between a name and its value. They are few and grammatical, independent of the topic.
var (
	// links precede the value.
	links = words("is was are be equals ist war sei lautet heißt heisst es est")
	// moves precede it if something is changed.
	moves = words("to auf zu as als")
	// changes are the verbs of moves, which may precede a value without being a link.
	changes = words("changed reset set updated rotated geändert gesetzt zurückgesetzt")
	// helps are other verbs of such a clause.
	helps = words("has had been will should must wurde wird soll hat remains bleibt")
	// adverbs may stand between a link and the value.
	adverbs = words("now still currently just simply jetzt nun noch einfach aktuell ahora")
	// owners begin a phrase that says whose it is: for the database, of the router.
	owners = words("for of on in at from für von vom des der zu zum zur im am bei de del para pour du la")
	// joins continue the sentence after a value.
	joins = words("for on in at and but or by until since so please und aber oder für von auf bei bitte on y et")
)

func words(list string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}

// prose adds credentials stated in sentences.
func (f *finder) prose() {
	for at := 0; at < len(f.s); at++ {
		if !firstOfNames[f.s[at]] {
			continue
		}
		for i := range credentialNames {
			n := &credentialNames[i]
			if !folds(f.s[at:], n.text) || !n.stands(f.s, at) {
				continue
			}
			c := clause{s: f.s, at: at + len(n.text), name: n, begin: at}
			c.end = min(len(f.s), c.at+clauseBytes)
			if value, ok := c.value(); ok && !f.allowed(value) {
				f.found = append(f.found, found{Finding{RuleProse, Warns, value.start, value.end}, len(f.rules)})
				at = value.end - 1
			}
			break
		}
	}
}

// stands reports whether a name at a position is a separate word, or the end of a compound that allows it.
func (n *credentialName) stands(s string, at int) bool {
	if at > 0 && !n.within {
		if strings.HasPrefix(s[at-1:], masked) {
			return false
		}
		if r, _ := utf8.DecodeLastRuneInString(s[:at]); runeKind(r) != 0 {
			return false
		}
	}
	r, _ := utf8.DecodeRuneInString(s[at+len(n.text):])
	return runeKind(r) == 0 && !strings.ContainsRune("_-'’./@", r) || r == utf8.RuneError
}

// masked begins the placeholder of a masked credential.
const masked = "[secret:"

// allowed reports whether an allow list that applies to all rules contains a value.
func (f *finder) allowed(at span) bool {
	return slices.ContainsFunc(f.allow, func(a allowance) bool { return a.allows(f.s, at, at) })
}

// clause parses what follows a name of a credential.
type clause struct {
	s         string
	at, end   int // the next position, and the end of possible values
	begin     int // of the name
	name      *credentialName
	whose     bool // an owner or a verb was read: more words may follow
	change    bool // the last word was a verb of change
	wordsRead int
}

// value returns the value of the name.
func (c *clause) value() (span, bool) {
	for c.at < c.end && strings.IndexByte("\"'`*)", c.s[c.at]) >= 0 {
		c.at++
	}
	for c.blanks(); c.at < c.end && c.wordsRead <= clauseWords; c.blanks() {
		if c.sign() {
			return c.shaped(true)
		}
		word := c.word()
		if word == "" || c.name.signs {
			return span{}, false
		}
		ends := strings.HasSuffix(word, ":") || strings.HasSuffix(word, "=")
		name := strings.Trim(strings.ToLower(word), ":=\"'`*()")
		if found, ok := c.after(name); ok || c.stops(word, name, ends) {
			return found, ok
		}
		if ends {
			c.blanks()
			return c.shaped(true)
		}
	}
	return span{}, false
}

// after returns the value following a word, if the word may precede one.
func (c *clause) after(word string) (span, bool) {
	if !links[word] && !moves[word] {
		return span{}, false
	}
	changed := links[word] || c.change || c.wordsRead == 1 && c.changedBefore()
	from := c.at
	defer func() { c.at = from }()
	c.blanks()
	if behind := c.at; adverbs[strings.ToLower(c.word())] {
		c.blanks()
	} else {
		c.at = behind
	}
	if c.sign() { // the password is: …
		c.blanks()
	}
	value, ok := c.shaped(false)
	if ok && !changed { // as in: auf … geändert
		c.at = value.end
		c.blanks()
		ok = changes[strings.TrimRight(strings.ToLower(c.word()), ".,;:!?)")]
	}
	return value, ok
}

// changedBefore reports whether the words before the name express a change, as in: change the password to.
func (c *clause) changedBefore() bool {
	before := strings.ToLower(c.s[max(0, c.begin-32):c.begin])
	return slices.ContainsFunc(strings.Fields(before), func(w string) bool {
		return changes[w] || w == "change" || w == "update" || w == "rotate" || w == "setze" || w == "ändere"
	})
}

// stops reports whether no value can follow a word that is neither a sign nor a link: the clause ends, or the words
// are about something other than the credential, as in: the password manager is.
func (c *clause) stops(word, name string, ends bool) bool {
	verb := links[name] || changes[name] || helps[name] || moves[name]
	if !c.whose && !verb && !owners[name] && !strings.HasPrefix(word, "(") {
		return true
	}
	c.whose, c.change = true, changes[name]
	return !ends && strings.IndexByte(".,;!?", word[len(word)-1]) >= 0
}

func (c *clause) blanks() {
	for c.at < len(c.s) && (c.s[c.at] == ' ' || c.s[c.at] == '\t') {
		c.at++
	}
}

// word reads up to the next blank.
func (c *clause) word() string {
	from := c.at
	for c.at < min(len(c.s), from+valueBytes) && c.s[c.at] > ' ' {
		c.at++
	}
	c.wordsRead++
	return c.s[from:c.at]
}

// sign reads an assignment sign, and the blanks after it.
func (c *clause) sign() bool {
	for _, sign := range [...]string{":=", "=>", "->", "→", "=", ":"} {
		if strings.HasPrefix(c.s[c.at:], sign) {
			c.at += len(sign)
			c.blanks()
			return true
		}
	}
	return false
}

// quotes are opening and closing quotation marks.
var quotes = [...][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"‘", "’"}, {"‚", "‘"}}

// shaped returns the value at the current position, if it has a suitable shape. set is whether a sign precedes it.
func (c *clause) shaped(set bool) (span, bool) {
	rest := c.s[c.at:]
	for _, q := range quotes {
		inner, ok := strings.CutPrefix(rest, q[0])
		if !ok {
			continue
		}
		n := strings.Index(inner[:min(len(inner), valueBytes)], q[1])
		if n < 0 {
			continue
		}
		at := c.at + len(q[0])
		return span{at, at + n}, c.quoted(inner[:n], set)
	}
	n := 0
	for n < min(len(rest), valueBytes+1) && rest[n] > ' ' {
		n++
	}
	bare := strings.TrimLeft(rest[:n], "*_")
	at := c.at + n - len(bare)
	bare = strings.TrimRight(bare, "*_.,;:)]}\"'`")
	value := span{at, at + len(bare)}
	return value, n <= valueBytes && c.bare(bare, c.closes(value.end))
}

// closes reports whether a clause ends at a position, or continues with a word that refers to all of it.
func (c *clause) closes(at int) bool {
	rest := strings.TrimLeft(c.s[at:min(len(c.s), at+32)], "*_\"'`)]}!")
	if rest == "" || strings.IndexByte(".,;:?\r\n/|-", rest[0]) >= 0 {
		return true
	}
	next := strings.Fields(rest)
	return len(next) == 0 || joins[strings.ToLower(strings.TrimRight(next[0], ".,;:"))]
}

// quoted reports whether a quotation may be a credential: one word, or a phrase that is called one.
func (c *clause) quoted(s string, set bool) bool {
	p := profileOf(s)
	switch {
	case len(s) < 4 || p.opens || p.letters+p.digits == 0:
		return false
	case c.name.kind == ofPIN:
		return isPIN(s)
	case p.blanks > 0:
		return c.name.text == "passphrase" && !set
	case p.digits > 0 && p.letters > 0, p.strong > 0, p.turns > 1:
		return !isTerm(s) && !p.other(s)
	case p.letters == 0:
		return !p.other(s)
	}
	return (c.name.kind == ofPassword || !set) && !isConstant(s) && !strings.ContainsAny(s, "._-/")
}

// bare reports whether a word without quotation marks may be a credential. closes is whether the clause ends with it.
func (c *clause) bare(s string, closes bool) bool {
	core := strings.TrimRight(s, "!?")
	p := profileOf(core)
	switch {
	case c.name.kind == ofPIN:
		return isPIN(core) && closes
	case p.opens || p.brackets || p.other(core) || isTerm(core) || isConstant(core):
		return false
	case p.letters == 0:
		return p.only() && (len(core) >= 6 || len(core) >= 4 && closes) && (c.name.kind == ofPassword || closes)
	}
	classes := min(p.digits, 1) + min(p.strong, 1) + min(p.turns/2, 1)
	switch {
	case classes >= 2 && p.digits > 0 && c.name.kind == ofPassword:
		return len(core) >= 4
	case classes >= 2, p.digits > 0 && p.turns > 2:
		return len(core) >= 8 || len(core) >= 6 && closes
	case p.digits > 0, p.strong > 0:
		return len(core) >= 6 && (closes || c.name.kind == ofPassword)
	}
	return p.turns > 1 && len(core) >= 8 && closes && c.name.kind == ofPassword && !strings.ContainsAny(core, "-/.'’")
}

// profile holds statistics of a value.
type profile struct {
	letters, digits, blanks int
	strong                  int  // signs that words do not have
	turns                   int  // changes between digits, capitals and small letters, but for a first capital
	opens                   bool // it begins as something that stands for a value
	brackets                bool
}

func profileOf(s string) profile {
	p := profile{opens: s == "" || strings.IndexByte("[<{$%(/~\\|", s[0]) >= 0 || strings.Contains(s, "://")}
	last := 0
	for i, r := range s {
		now := runeKind(r)
		switch {
		case now == 1:
			p.digits++
		case now > 1:
			p.letters++
		case r == ' ' || r == '\t':
			p.blanks++
		case strings.ContainsRune("()[]{}<>\\|", r):
			p.brackets = true
		case !strings.ContainsRune("-_./'’,:…–—", r) && r < utf8.RuneSelf:
			p.strong++
		}
		if i > 1 && now != 0 && last != 0 && now != last {
			p.turns++
		}
		last = now
	}
	return p
}

// otherSigns are signs beyond ASCII that occur in no word. Other characters count as small letters.
const otherSigns = "…–—’‘‚“”„«»→，。：；！？、（）"

// runeKind is kind for a scalar of any script.
func runeKind(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return kind(byte(r))
	case r == utf8.RuneError || strings.ContainsRune(otherSigns, r):
		return 0
	}
	return 3
}

// only reports whether a value consists of digits.
func (p profile) only() bool { return p.digits > 0 && p.letters+p.strong+p.blanks == 0 }

func isPIN(s string) bool { return len(s) >= 4 && len(s) <= 12 && only(s, "0123456789") }

// other reports whether a value has another known form: a date, a version, a number with a unit, an address, or a path.
func (p profile) other(s string) bool {
	if bare := strings.TrimLeft(s, "vV"); only(bare, "0123456789.,:-/%+") && !only(s, "0123456789") {
		return true
	}
	number := 0
	for number < len(s) && s[number] >= '0' && s[number] <= '9' {
		number++
	}
	if number > 0 && number <= 3 && p.strong == 0 && p.digits == number && only(s[number:], smallWord) {
		return true // 8-character, 30min, 2fa
	}
	if strings.IndexByte(s, '/') >= 0 && p.strong == 0 {
		return true
	}
	user, host, address := strings.Cut(s, "@")
	if address && only(user, smallWord+"0123456789") && only(host, smallWord+"0123456789") && strings.Contains(host, ".") {
		return true
	}
	dot := strings.LastIndexByte(s, '.')
	return dot > 0 && p.strong == 0 && len(s)-dot <= 5 && only(s[dot+1:], smallWord) // the name of a file or host
}

const smallWord = "abcdefghijklmnopqrstuvwxyz-._"

// isConstant reports whether a value is the name of a constant or environment variable.
func isConstant(s string) bool {
	return strings.Contains(s, "_") && only(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
}

// terms are the beginnings of technical terms that mix letters and digits like passwords.
var terms = []string{
	"base16", "base32", "base58", "base64", "sha1", "sha2", "sha3", "sha-", "sha5", "md4", "md5", "oauth", "utf8", "utf16", "utf-",
	"ipv4", "ipv6", "hs256", "hs384", "hs512", "rs256", "rs384", "rs512", "es256", "es384", "es512", "ps256", "x509", "x.509",
	"aes", "argon2", "pbkdf2", "ed25519", "x25519", "secp256", "p256", "pkcs", "1password", "k8s", "ntlmv2", "saml2", "http1",
	"http2", "http3", "tls1", "iso8601", "iso-", "rfc", "fido2", "web3", "log4j", "win32", "win64", "x86", "arm64", "amd64",
	"int32", "int64", "uint32", "uint64", "float32", "float64", "ec2", "s3", "r2", "d1",
}

func isTerm(s string) bool {
	for _, t := range terms {
		if !folds(s, t) {
			continue
		}
		rest := s[len(t):]
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if rest = rest[digits:]; rest == "" || only(rest[:1], "-_./:,") || only(strings.ToLower(rest), "abcdefghijklmnopqrstuvwxyz-") {
			return true
		}
	}
	return false
}
