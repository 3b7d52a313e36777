// Package guard finds credentials in texts before they are written to a memory, if they would stay for as long
// as its history: keys and tokens of providers, private keys, passwords.
//
// The rules are data, in folder rules:
//
//	gitleaks.toml     the rules of gitleaks v8.30.1, unchanged; gitleaks.LICENSE is its licence (MIT)
//	mnem.toml         rules and exceptions of our own, in the same form
//	refused.txt       the rules whose findings are refused; those of the others are reported
//
// A newer gitleaks.toml replaces the old one unchanged. No rule is parsed before the first text that may hold a
// credential, and no pattern is compiled before a keyword of its rule is found, so that other processes pay
// nothing.
//
// # What is searched
//
// Nearly every credential has a run of minRun letters, digits and signs, some of them no lower-case letters. A text
// without one, and without an assignment like NAME=VALUE, is read once, at memory speed, and has no findings.
// Otherwise keywords are searched around these places, and the pattern of a rule is matched only near one of its
// keywords. Patterns are RE2's, and the bytes that they may read are bounded by a multiple of the text's length, so
// that time is linear for any text.
//
// # What is never found
//
// UUIDs, hexadecimal hashes like git's, CIDs, integrity hashes, public keys, examples from providers' documents,
// and placeholders in templates.
package guard
