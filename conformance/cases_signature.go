package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"math/big"
	"strings"
)

// keyText is the text form of a key or secret by clause 17.1.
func keyText(prefix, domain string, raw []byte) string {
	return prefix + base32Lower.EncodeToString(append(append([]byte{}, raw...),
		keyHash(domain, raw)[:3]...))
}

func keyHash(domain string, raw []byte) []byte {
	sum := sha256.Sum256([]byte(domain + "\x01" + string(raw)))
	return sum[:]
}

func publicText(key []byte) string { return keyText("mnem-ed25519-", "mnem:key:", key) }

func secretText(seed []byte) string {
	return keyText("mnem-ed25519-secret-", "mnem:secret:", seed)
}

func fingerprint(key []byte) string {
	t := base32Lower.EncodeToString(keyHash("mnem:fingerprint:", key)[:10])
	return t[:4] + "-" + t[4:8] + "-" + t[8:12] + "-" + t[12:]
}

// The secrets of tests 1 to 3 of RFC 8032, section 7.1.
var rfcSeeds = []string{
	"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
	"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
	"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
}

func private(seed string) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(unhex(seed)) }

func public(seed string) []byte { return private(seed)[32:] }

// commitMessage returns the bytes that the signature of a commit covers.
func commitMessage(rec dict) []byte {
	return append([]byte("mnem:commit:"), encode(with(rec, dict{"signature": absent{}}))...)
}

// signedBy is the commit with the signature field of clause 17.2.
func signedBy(rec dict, key, rs []byte) dict {
	field := append(append([]byte{1}, key...), rs...)
	return with(rec, dict{"signature": field})
}

func sign(rec dict, seed string) dict {
	return signedBy(rec, public(seed), ed25519.Sign(private(seed), commitMessage(rec)))
}

func signatureCases(s *suite) {
	keyCases(s)
	signingCases(s)
	badSignatures(s)
	mixedSignatures(s)
	stateCases(s)
	redactionSignatures(s)
	keyFileCases(s)
	trustListCases(s)
}

func keyCases(s *suite) {
	for i, seed := range rfcSeeds {
		key := public(seed)
		name := "key-rfc-" + itoa(i+1)
		s.add("17.1", "signature", name, "the key of a secret of RFC 8032",
			obj{"secret": secretText(unhex(seed))}, obj{"key": publicText(key)})
		s.add("17.1", "signature", name+"-text", "a key, its bytes and its fingerprint",
			obj{"key": publicText(key)}, obj{"bytes": hx(key), "fingerprint": fingerprint(key)})
	}
	good := publicText(public(rfcSeeds[0]))
	refuse := func(name, title, class, text string) {
		s.refuse("17.1", "signature", "key-bad-"+name, title, class, obj{"key": text})
	}
	last := map[bool]string{true: "b", false: "a"}[strings.HasSuffix(good, "a")]
	refuse("check", "another last digit", "check", good[:len(good)-1]+last)
	refuse("upper", "upper case", "spelling", strings.ToUpper(good))
	refuse("short", "a digit too few", "spelling", good[:len(good)-1])
	refuse("long", "a digit too many", "spelling", good+"a")
	refuse("line", "a line end after it", "spelling", good+"\n")
	refuse("line-inside", "a line end for a digit", "spelling", good[:30]+"\n"+good[31:])
	refuse("padded", "padding", "spelling", good+"=")
	refuse("prefix", "no prefix", "spelling", strings.TrimPrefix(good, "mnem-ed25519-"))
	refuse("secret", "a secret", "spelling", secretText(unhex(rfcSeeds[0])))
	refuse("fingerprint", "a fingerprint", "spelling", fingerprint(public(rfcSeeds[0])))
	swapped := keyText("mnem-ed25519-", "mnem:secret:", public(rfcSeeds[0]))
	refuse("domain", "the check of a secret", "check", swapped)
	for i, p := 0, torsion8; i < 8; i, p = i+1, p.add(torsion8) {
		refuse("order-"+itoa(i), "a point whose order divides 8", "point", publicText(p.encode()))
	}
	negative := littleEndian(big.NewInt(1))
	negative[31] |= 0x80
	refuse("minus-zero", "x = 0 with a sign", "point", publicText(negative))
	for i := int64(0); i < 19; i++ {
		y := new(big.Int).Add(fieldP, big.NewInt(i))
		refuse("field-"+itoa(int(i)), "a y that is not below 2^255 - 19", "point",
			publicText(littleEndian(y)))
	}
	off := int64(2)
	for xOf(big.NewInt(off)) != nil {
		off++
	}
	refuse("curve", "a y without a point", "point", publicText(littleEndian(big.NewInt(off))))
	secret := secretText(unhex(rfcSeeds[0]))
	s.refuse("17.1", "signature", "secret-bad-check", "a secret with the check of a key", "check",
		obj{"secret": keyText("mnem-ed25519-secret-", "mnem:key:", unhex(rfcSeeds[0]))})
	s.refuse("17.1", "signature", "secret-bad-key", "a key for a secret", "spelling",
		obj{"secret": good})
	s.refuse("17.1", "signature", "secret-bad-short", "a digit too few", "spelling",
		obj{"secret": secret[:len(secret)-1]})
}

// signable are commits to sign.
func signable() []struct {
	name, title string
	rec         dict
} {
	first := baseCommit(nil)
	return []struct {
		name, title string
		rec         dict
	}{
		{"first", "a first commit", first},
		{"second", "a commit with a parent", baseCommit(dict{"parents": []any{recordCID(first)},
			"height": 2, "vectors": buildTree(nil).root, "agent": "claude", "task": "cleaning"})},
		{"unknown", "a commit with an unknown field", baseCommit(dict{"zeta": []any{int64(1)}})},
		{"amended", "a commit whose change is its first one", with(first,
			dict{"message": "other"})},
	}
}

func signingCases(s *suite) {
	for i, c := range signable() {
		seed := rfcSeeds[i%len(rfcSeeds)]
		signed := sign(c.rec, seed)
		s.add("17.2", "signature", "sign-"+c.name, c.title+", signed",
			obj{"secret": secretText(unhex(seed)), "block": pieces(encode(c.rec))},
			obj{"block": pieces(encode(signed)), "cid": recordCID(signed).String(),
				"change": hx(changeID(c.rec))})
	}
}

// state adds a case that judges a commit by a trust list.
func (s *suite) state(clause, name, title string, rec dict, list, state string, key []byte) {
	e := obj{"state": state}
	if key != nil {
		e["key"] = publicText(key)
	}
	s.add(clause, "signature", name, title, obj{"block": pieces(encode(rec)), "trust": list}, e)
}

// trustList is the JSON of clause 17.4 of keys with more members each, in order.
func trustList(keys ...string) string { return `{"v":1,"keys":[` + strings.Join(keys, ",") + `]}` }

func listed(key []byte, more string) string {
	return `{"key":"` + publicText(key) + `","added":"2026-01-01"` + more + `}`
}

func trusts(key []byte) string { return trustList(listed(key, `,"trusted":true`)) }

func badSignatures(s *suite) {
	rec := baseCommit(nil)
	key := public(rfcSeeds[0])
	good := text(sign(rec, rfcSeeds[0]), "signature")
	bad := func(name, title string, field string) {
		s.state("17.2", "bad-"+name, title, with(rec, dict{"signature": []byte(field)}), trusts(key),
			"bad", nil)
	}
	bad("algorithm-0", "algorithm 0", "\x00"+good[1:])
	bad("algorithm-2", "an unknown algorithm", "\x02"+good[1:])
	bad("short", "a byte too few", good[:96])
	bad("long", "a byte too many", good+"\x00")
	bad("one", "the algorithm alone", good[:1])
	bad("other-key", "the signature of one key under another",
		good[:1]+string(public(rfcSeeds[1]))+good[33:])
	bad("r", "one bit of R", good[:33]+string(good[33]^1)+good[34:])
	bad("s", "one bit of S", good[:65]+string(good[65]^1)+good[66:])
	over := new(big.Int).Add(fromLittle([]byte(good[65:])), orderL)
	bad("s-order", "S plus the order of B", good[:65]+string(littleEndian(over)))
	zero := string(littleEndian(big.NewInt(1)))
	bad("small-order", "a key of order 1, for which this signs anything",
		"\x01"+zero+zero+string(make([]byte, 32)))
	plain := ed25519.Sign(private(rfcSeeds[0]), encode(rec))
	bad("domain", "a signature of the record without the domain",
		"\x01"+string(key)+string(plain))
	for _, field := range []string{"message", "time", "author"} {
		edit := dict{"message": "forged", "time": t0 + 1, "author": "mallory"}
		changed := with(sign(rec, rfcSeeds[0]), dict{field: edit[field]})
		s.state("17.2", "bad-"+field, "another "+field, changed, trusts(key), "bad", nil)
	}
	added := with(sign(rec, rfcSeeds[0]), dict{"zeta": int64(1)})
	s.state("17.2", "bad-added", "an unknown field added", added, trusts(key), "bad", nil)
}

// mixedSignatures are by a key with a part of small order: verifiers that multiply by the
// cofactor disagree about them with those that do not.
func mixedSignatures(s *suite) {
	secret, nonce := big.NewInt(1_234_567), big.NewInt(7_654_321)
	found := map[bool]bool{}
	for n := 0; len(found) < 2; n++ {
		rec := baseCommit(dict{"message": "mixed " + itoa(n)})
		key, rs, k := signMixed(secret, nonce, commitMessage(rec))
		holds := k.Bit(0)|k.Bit(1)|k.Bit(2) == 0
		if found[holds] {
			continue
		}
		found[holds] = true
		name, title, state, by := "mixed-bad", "R is not [S]B - [k]A, 8 times R is", "bad", []byte(nil)
		if holds {
			name, title, state, by = "mixed", "a key with a part of small order", "signed", key
		}
		s.state("17.2", name, title, signedBy(rec, key, rs), trusts(key), state, by)
	}
}

func stateCases(s *suite) {
	rec := baseCommit(nil) // at 2026-01-01T00:00:00Z
	key := public(rfcSeeds[0])
	signed := sign(rec, rfcSeeds[0])
	cases := []struct {
		name, title, list, state string
	}{
		{"empty", "an empty list", trustList(), "untrusted"},
		{"other", "a list with another key", trusts(public(rfcSeeds[1])), "untrusted"},
		{"trusted", "a trusted key", trusts(key), "signed"},
		{"revoked", "a revoked key", trustList(listed(key,
			`,"trusted":true,"revoked":{"at":"2026-06-01"}`)), "revoked"},
		{"revoked-only", "a key that was never trusted, revoked", trustList(listed(key,
			`,"trusted":false,"revoked":{"at":"2026-06-01"}`)), "revoked"},
		{"since-before", "revoked from a microsecond before the commit on", trustList(listed(key,
			`,"trusted":true,"revoked":{"at":"2026-06-01","since":"2025-12-31T23:59:59.999999Z"}`)),
			"revoked"},
		{"since-at", "revoked from the commit's time on", trustList(listed(key,
			`,"trusted":true,"revoked":{"at":"2026-06-01","since":"2026-01-01"}`)), "revoked"},
		{"since-after", "revoked from a microsecond after the commit on", trustList(listed(key,
			`,"trusted":true,"revoked":{"at":"2026-06-01","since":"2026-01-01T00:00:00.000001Z"}`)),
			"signed"},
		{"since-after-only", "revoked from later on, never trusted", trustList(listed(key,
			`,"trusted":false,"revoked":{"at":"2026-06-01","since":"2026-01-02"}`)), "untrusted"},
	}
	for _, c := range cases {
		s.state("17.3", "state-"+c.name, c.title, signed, c.list, c.state, key)
	}
	s.state("17.3", "state-unsigned", "no signature", rec, trusts(key), "unsigned", nil)
}

// redactionMessage returns the bytes that the signature of a redaction of a block covers.
func redactionMessage(rec dict, erased link) []byte {
	head := append([]byte("mnem:commit:mnem:redaction:"), erased...)
	return append(head, encode(with(rec, dict{"signature": absent{}}))...)
}

// redactionSignatures are by clause 19.3.
func redactionSignatures(s *suite) {
	id := []byte(nodeIDOfKey("alice"))
	base := dict{"kind": "redaction", "v": 1, "what": "node", "node": id, "actor": "erin", "time": t0,
		"reason": "asked to be forgotten"}
	erased, other := cidOf(codecRaw, []byte("a text")), cidOf(codecCBOR, []byte("a text"))
	seed := rfcSeeds[0]
	key := public(seed)
	signed := func(rec dict, c link) dict {
		return signedBy(rec, key, ed25519.Sign(private(seed), redactionMessage(rec, c)))
	}
	for _, c := range []struct {
		name, title string
		change      dict
	}{
		{"redaction", "a redaction, signed", nil},
		{"redaction-chunk", "a redaction of a chunk, signed", dict{"what": "content", "node": absent{}, "reason": absent{}}},
		{"redaction-unknown", "a redaction with unknown fields, signed", dict{"zeta": int64(1), "signatures": int64(2)}},
	} {
		rec := with(base, c.change)
		s.add("19.3", "signature", "sign-"+c.name, c.title,
			obj{"secret": secretText(unhex(seed)), "block": pieces(encode(rec)), "erased": erased.String()},
			obj{"block": pieces(encode(signed(rec, erased)))})
	}
	judge := func(name, title string, rec dict, c link, state string) {
		e := obj{"state": state}
		if state == "signed" {
			e["key"] = publicText(key)
		}
		s.add("19.3", "signature", name, title, obj{"block": pieces(encode(rec)), "erased": c.String()}, e)
	}
	good := signed(base, erased)
	field := text(good, "signature")
	judge("redaction-good", "a signature that holds", good, erased, "signed")
	judge("redaction-none", "no signature", base, erased, "unsigned")
	judge("redaction-bad-block", "another block with the same bytes", good, other, "bad")
	judge("redaction-bad-reason", "another reason", with(good, dict{"reason": "none"}), erased, "bad")
	judge("redaction-bad-added", "an unknown field added", with(good, dict{"zeta": int64(1)}), erased, "bad")
	judge("redaction-bad-commit", "a signature without the domain of redactions", signedBy(base, key,
		ed25519.Sign(private(seed), commitMessage(base))), erased, "bad")
	judge("redaction-bad-algorithm", "an unknown algorithm", with(base,
		dict{"signature": []byte("\x02" + field[1:])}), erased, "bad")
	judge("redaction-bad-short", "a byte too few", with(base, dict{"signature": []byte(field[:96])}), erased, "bad")
	judge("redaction-bad-type", "a signature that is no bytes", with(base, dict{"signature": "x"}),
		erased, "bad")
}

func keyFile(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func keyFileCases(s *suite) {
	seed := unhex(rfcSeeds[0])
	pub, sec := "public "+publicText(public(rfcSeeds[0])), "secret "+secretText(seed)
	good := keyFile("mnem key 1", pub, sec)
	s.add("17.4", "signature", "file", "a key file", obj{"file": good},
		obj{"key": publicText(public(rfcSeeds[0]))})
	for _, c := range []struct{ name, title, class, text string }{
		{"empty", "an empty file", "form", ""},
		{"end", "no line end at the end", "form", strings.TrimSuffix(good, "\n")},
		{"blank", "a blank line at the end", "form", good + "\n"},
		{"crlf", "CR LF", "form", strings.ReplaceAll(good, "\n", "\r\n")},
		{"bom", "a byte order mark", "form", "\ufeff" + good},
		{"version", "another version", "form", keyFile("mnem key 2", pub, sec)},
		{"order", "lines out of order", "form", keyFile("mnem key 1", sec, pub)},
		{"public", "no public line", "form", keyFile("mnem key 1", sec)},
		{"other", "the key of another secret", "key",
			keyFile("mnem key 1", "public "+publicText(public(rfcSeeds[1])), sec)},
		{"check", "a mistake in the secret", "check", strings.Replace(good, "secret-t", "secret-u", 1)},
	} {
		s.refuse("17.4", "signature", "file-bad-"+c.name, c.title, c.class, obj{"file": c.text})
	}
	names := []any{"a", "0", "work-2_x", rep("k", 64), "com", "com10", "lpt"}
	bad := []any{"", "A", "-a", "_a", "a.b", "a b", "a/b", "é", rep("k", 65), "con", "nul", "aux",
		"prn", "com1", "lpt9", "com0"}
	s.add("17.4", "signature", "names", "names of keys", obj{"good": names, "bad": bad}, obj{})
}

func trustListCases(s *suite) {
	var keys []string
	for _, seed := range rfcSeeds {
		keys = append(keys, publicText(public(seed)))
	}
	byText := mapping{}
	for i, k := range keys {
		byText[k] = listed(public(rfcSeeds[i]), `,"trusted":true`)
	}
	order := sortedMap(byText)
	var items []string
	all := []any{}
	for _, k := range order {
		items = append(items, byText[k].(string))
		all = append(all, k)
	}
	s.add("17.4", "signature", "list", "a trust list", obj{"list": trustList(items...)},
		obj{"keys": all})
	s.add("17.4", "signature", "list-empty", "a trust list without keys, with white space",
		obj{"list": "{\n \"keys\": [], \"v\": 1 }\n"}, obj{"keys": []any{}})
	one := public(rfcSeeds[0])
	full := `,"name":"Ada","note":"met her","trusted":true,"revoked":{"at":"2026-01-02",` +
		`"since":"2026-01-01T01:00:00+01:00","reason":"lost"}`
	s.add("17.4", "signature", "list-full", "every member", obj{"list": trustList(listed(one, full))},
		obj{"keys": []any{publicText(one)}})
	for _, c := range []struct{ name, title, class, text string }{
		{"order", "keys out of order", "order", trustList(items[1], items[0])},
		{"twice", "a key given twice", "order", trustList(items[0], items[0])},
		{"version", "another version", "field", `{"v":2,"keys":[]}`},
		{"no-keys", "no keys", "field", `{"v":1}`},
		{"member", "an unknown member", "field", `{"v":1,"keys":[],"x":1}`},
		{"unknown", "an unknown member of a key", "field",
			trustList(listed(one, `,"trusted":true,"x":1`))},
		{"neither", "neither trusted nor revoked", "field", trustList(listed(one, `,"trusted":false`))},
		{"no-trusted", "trusted is missing", "field", trustList(listed(one, ``))},
		{"name-empty", "an empty name", "limit", trustList(listed(one, `,"trusted":true,"name":""`))},
		{"name-long", "a name of 256 bytes", "limit",
			trustList(listed(one, `,"trusted":true,"name":"`+rep("n", 256)+`"`))},
		{"since", "a since that is no time", "time",
			trustList(listed(one, `,"trusted":true,"revoked":{"at":"2026-01-01","since":"never"}`))},
		{"null", "a null", "type", trustList(listed(one, `,"trusted":true,"revoked":null`))},
		{"two", "two values", "syntax", trustList() + trustList()},
	} {
		s.refuse("17.4", "signature", "list-bad-"+c.name, c.title, c.class, obj{"list": c.text})
	}
}
