package parse

import (
	"regexp"
	"sync"

	"github.com/mnem-project/mnem/internal/base/pattern"
)

// The formats of source code besides Go, one for each language.
const (
	Python     Format = "python"
	JavaScript Format = "javascript" // and TypeScript
	Java       Format = "java"
	Rust       Format = "rust"
	C          Format = "c" // and C++
	CSharp     Format = "csharp"
	Ruby       Format = "ruby"
	PHP        Format = "php"
	Shell      Format = "shell"

	longGo Format = "go, line by line" // of no file: what generators write
)

// language is how the lines of a language look.
type language struct {
	line      []string  // beginnings of comments that end with the line
	block     [2]string // the beginning and end of other comments
	nested    bool      // whether there may be such in such
	attribute string    // looks like a comment but is none
	quotes    string    // delimiters of strings
	multi     bool      // whether these may go over several lines
	long      []string  // delimiters of strings that may always span lines
	char      func() *regexp.Regexp
	heredoc   func() *regexp.Regexp

	decls   []decl
	holders []string // kinds of declarations that others are in
	words   []string // that begin no declaration, and are no names of one
	above   func() *regexp.Regexp
	goes    func() *regexp.Regexp
	ends    bool // whether the word end ends declarations

	imported  func() *regexp.Regexp
	dots      bool
	separator string
	near      bool // whether paths begin at the directory of the file
}

// identifier matches a name: any characters that do not end a name in one of the languages.
const identifier = "([^\\s(){}\\[\\]<>:;,=.\"'`&*!?/+|]+)"

var (
	cWords = []string{"if", "for", "while", "switch", "return", "else", "do", "sizeof", "new",
		"delete", "throw", "catch",
		"case", "using", "lock", "foreach", "await", "yield", "goto", "function", "super", "this",
		"assert", "try", "synchronized", "typeof", "default", "break", "continue", "import"}
	cChar  = pattern.New(`^'(?:\\.[^']{0,8}|[^'\\])'`)
	access = pattern.New(`^\s*(?:#|//|(?:public|private|protected|signals|default|case\s[^;]*` +
		`|[A-Za-z_]\w*)(?:\s+\w+)?:\s*(?:$|//))`)
)

// languages are the languages by their formats, made when the first one is read.
var languages = sync.OnceValue(func() map[Format]*language {
	return map[Format]*language{
		longGo: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"`, long: []string{"`"}, char: cChar,
			decls: []decl{
				{match: pattern.New(`^(func)\s+(\([^)]*\)\s*\w+|\w+)`)},
				{match: pattern.New(`^(type|const|var)\s+(\w+)`)},
			},
		},
		Python: {
			line: []string{"#"}, quotes: `"'`, long: []string{`"""`, "'''"}, dots: true,
			decls:    []decl{{match: pattern.New(`^\s*(?:async\s+)?(def|class)\s+` + identifier)}},
			holders:  []string{"class"},
			above:    pattern.New(`^\s*@`),
			imported: pattern.New(`^\s*(?:from\s+([.\w]+)\s+import\b|import\s+([.\w]+))`),
		},
		JavaScript: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"'`, long: []string{"`"},
			decls: []decl{
				{match: pattern.New(`^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?` +
					`(function|class|interface|enum|namespace|type)\b[ \t*]*` + identifier)},
				{match: pattern.New(`^(?:export\s+)(?:declare\s+)?(const|let|var)\s+` + identifier)},
				{match: pattern.New(`^(const|let|var)\s+` + identifier + `\s*(?::[^=]*)?=\s*(?:async\b` +
					`\s*)?(?:function\b|class\b|\(|\w+\s*=>)`)},
				{match: pattern.New(`^\s+(?:(?:public|private|protected|static|async|readonly|override` +
					`|get|set|abstract)\s+)*` +
					`\*?(#?` + identifier[1:len(identifier)-1] + `)\s*(?:<[^()]*>)?\([^;]*$`), kind: "method", inside: true},
			},
			holders: []string{"class", "namespace"}, words: cWords,
			above: pattern.New(`^\s*@`),
			imported: pattern.New(`(?:^\s*import\s+["']|\bfrom\s+["']|\brequire\(\s*["']|^\s*export` +
				`\s+\*\s+from\s+["'])` +
				`(\.[^"']*)["']`),
		},
		Java: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"`, long: []string{`"""`}, char: cChar,
			decls: []decl{
				{match: pattern.New(`^\s*(?:(?:public|private|protected|static|final|abstract|sealed|n` +
					`on-sealed|strictfp)\s+)*` +
					`(class|interface|enum|record|@interface)\s+` + identifier)},
				{match: pattern.New(`^\s+(?:[\w@<>\[\],.?&]+\s+)+` + identifier + `\s*\([^=]*` +
					`$`), kind: "method", inside: true},
				{match: pattern.New(`^\s+` + identifier + `\s*\([^=]*\{\s*$`), kind: "method", inside: true},
			},
			holders: []string{"class", "interface", "enum", "record", "@interface"}, words: cWords,
			above:    pattern.New(`^\s*@`),
			goes:     pattern.New(`^\s*(?:throws|extends|implements|permits)\b`),
			imported: pattern.New(`^\s*import\s+(?:static\s+)?([\w.]+)\s*;`), separator: ".",
		},
		Rust: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, quotes: `"`, multi: true, char: cChar,
			decls: []decl{
				{match: pattern.New(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|ext` +
					`ern(?:\s+"[^"]*")?)\s+)*` +
					`(fn|struct|enum|trait|union|type|static|const|macro_rules!)\s+(?:mut\s+)?` + identifier)},
				{match: pattern.New(`^\s*(?:pub(?:\([^)]*\))?\s+)?(mod)\s+(\w+)\s*(?:\{|$)`)},
				{match: pattern.New(`^\s*(?:unsafe\s+)?(impl)\b\s*(?:<[^{]*?>\s)?\s*([^{]+)`)},
			},
			holders: []string{"impl", "trait", "mod"},
			above:   pattern.New(`^\s*#!?\[`),
			goes:    pattern.New(`^\s*where\b`),
			imported: pattern.New(`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:mod\s+(\w+)\s*;|use\s+(?:crate|` +
				`self|super)::(\w+(?:::[a-z_]\w*)*))`),
			separator: "::", near: true,
		},
		C: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"`, char: cChar,
			decls: []decl{
				{match: pattern.New(`^\s*(?:template\s*<.*>\s*)?(?:typedef\s+|static\s+|export\s+|inline\s+)*` +
					`(namespace|class|struct|union|enum(?:\s+class)?)\s+(?:\[\[[^\]]*\]\]\s*)?([\w:]+)[^;=()]*$`)},
				{match: pattern.New(`^(?:[\w:<>,*&~\[\]]+[\s*&]+)+([\w:~]+|[\w:]*operator\s*[^\s(]+)\s` +
					`*\([^;]*$`), kind: "function"},
				{match: pattern.New(`^([\w]+::~?[\w:]+)\s*\([^;]*$`), kind: "function"},
				{match: pattern.New(`^\s+(?:[\w:<>,*&\[\]]+[\s*&]+)*(~?[\w:]+|operator\s*[^\s(]+)\s*\(` +
					`[^;=]*\)[^;]*\{`), kind: "function",
					inside: true},
			},
			holders: []string{"namespace", "class", "struct", "union"}, words: cWords,
			above: pattern.New(`^\s*(?:template\s*<|\[\[|__attribute__)`), goes: access,
			imported: pattern.New(`^\s*#\s*include\s*"([^"]+)"`), near: true,
		},
		CSharp: {
			line: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: `"`, long: []string{`"""`}, char: cChar,
			decls: []decl{
				{match: pattern.New(`^\s*(?:(?:public|private|protected|internal|static|sealed|abstrac` +
					`t|partial|readonly|ref|file|unsafe|new)\s+)*` +
					`(namespace|class|interface|enum|struct|record(?:\s+(?:class|struct))?|delegate)\s+([\w.@<>]+)`)},
				{match: pattern.New(`^\s+(?:[\w@<>\[\],.?]+\s+)+` + identifier + `\s*(?:<[^()]*>)?\([^` +
					`=;]*(?:=>.*)?$`), kind: "method", inside: true},
				{match: pattern.New(`^\s+(?:public|private|protected|internal)\s+(?:[\w@<>\[\],.?]+\s+` +
					`)*` + identifier + `\s*(?:\{|=>)`),
					kind: "property", inside: true},
			},
			holders: []string{"namespace", "class", "interface", "struct", "record", "record class",
				"record struct"}, words: cWords,
			above: pattern.New(`^\s*\[`), goes: pattern.New(`^\s*(?:where\b|#|:)`),
		},
		Ruby: {
			line: []string{"#"}, block: [2]string{}, quotes: `"'`, ends: true,
			heredoc: pattern.New("<<[-~]?[\"'`]?([A-Z_]{2,})"),
			decls: []decl{
				{match: pattern.New(`^\s*(class|module|def)\s+([^\s(;<]+)`)},
			},
			holders:  []string{"class", "module"},
			goes:     pattern.New(`^\s*(?:rescue|ensure|else|when|elsif|private|protected|public)\b`),
			imported: pattern.New(`^\s*require_relative\s*\(?\s*["']([^"']+)["']`), near: true,
		},
		PHP: {
			line: []string{"//", "#"}, attribute: "#[", block: [2]string{"/*", "*/"}, quotes: `"'`, multi: true,
			heredoc: pattern.New(`<<<\s*["']?(\w+)`),
			decls: []decl{
				{match: pattern.New(`(?i)^\s*(?:(?:public|private|protected|static|final|abstract|readonly)\s+)*` +
					`(function|class|interface|trait|enum)\s+&?\s*` + identifier)},
			},
			holders: []string{"class", "interface", "trait", "enum"},
			above:   pattern.New(`^\s*#\[`),
			goes:    pattern.New(`(?i)^\s*(?:extends|implements)\b`),
			imported: pattern.New(`^\s*(?:use\s+([\w\\]+)\s*(?:as\s+\w+)?;|(?:require|include)(?:_` +
				`once)?\b[^"']*["']/?([^"']+)["'])`),
			separator: `\`,
		},
		Shell: {
			line: []string{"#"}, quotes: `"'`, multi: true,
			heredoc: pattern.New(`<<-?\s*["'\\]?([A-Za-z_]\w*)`),
			decls: []decl{
				{match: pattern.New(`^\s*(?:function\s+)?([\w.:-]+)\s*\(\)`), kind: "function"},
				{match: pattern.New(`^\s*(function)\s+([\w.:-]+)`)},
			},
			imported: pattern.New(`^\s*(?:source|\.)\s+["']?([\w./-]+)`), near: true,
		},
	}
})
