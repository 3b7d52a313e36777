// Package guard finds credentials in texts before they are written to a memory, where they would stay
// for as long as its history: keys and tokens of providers, private keys, passwords.
//
// The rules are data, in folder rules:
//
//	gitleaks.toml     the rules of gitleaks v8.30.1, unchanged; gitleaks.LICENSE is its licence (MIT)
//	mnem.toml         rules and exceptions of our own, in the same form
//	refused.txt       the rules whose findings are refused; those of the others are reported
//
// A newer gitleaks.toml takes the place of the old one as it is. Nothing is read before the first
// text that may hold a credential, and no pattern is compiled before a keyword of its rule was found,
// so that a process that writes nothing of the kind pays nothing.
//
// # What is looked at
//
// Nearly every credential has a run of minRun letters, digits and signs, some of them no lower-case
// letters. A text without one, and without something that is set as in NAME=VALUE, is read once, at
// the speed of memory, and has no findings. Else keywords are looked for around these places, and
// where there is one, the pattern of its rule is matched there and nowhere else. Patterns are RE2's
// and the bytes that they may read are bounded by a multiple of the text's length, so that the time
// grows with the text whatever is in it.
//
// # What is never found
//
// UUIDs, hashes in hexadecimal digits as those of git, CIDs, integrity hashes, public keys, what
// providers' documents show as examples, and what stands for a value in a template.
package guard
