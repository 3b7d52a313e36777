// Package text turns text into search terms and into safe lines. What it does to a code point is
// decided by tables of its own, so results never move with a release of Go or of a library:
// neither package unicode nor golang.org/x/text is imported.
//
// # Analyser version 1
//
// Another implementation that follows these rules with the tables of testdata/tables.txt yields the same terms in the
// same order. The tables come from Unicode 15.0.0; a golden hash in the tests pins them for every code point.
//
//  1. Decode. The text is read as UTF-8. A byte that is not part of a well-formed sequence (so
//     also each byte of an encoded surrogate, an overlong form, or a value above U+10FFFF) counts
//     as one code point of class Separator.
//
//  2. Fold. Each code point maps, whatever stands around it, to a sequence of code points:
//     fold(c) is the full case folding (Unicode CaseFolding.txt, statuses C and F) of NFKD(c)
//     from which U+0300..U+036F were dropped, the whole repeated until nothing changes. Hangul
//     syllables U+AC00..U+D7A3 fold to themselves. Only the folds of code points that become
//     part of a term are used.
//
//  3. Classify. Each code point has a class, decided by the original code point and listed under
//     Classes below. Letter, Lower, Upper and Digit are the word classes; Han, Kana, Thai, Lao,
//     Khmer and Myanmar the bigram classes. From here on, Ignored code points are as if absent:
//     they neither separate nor contribute, and «before», «after» and «between» look past them.
//
//  4. Words. A word is a maximal run of code points of word classes. These also join:
//     an Apostrophe between two code points of word classes, kept as U+0027; a FullStop between
//     two of class Digit, kept as it is; a Comma between two of class Digit, dropped. Words and
//     the runs of step 6 are taken from left to right. The word's token is the concatenation of
//     its folds.
//
//  5. Parts. Within a word, the case of an Upper code point is upper, of a Lower one lower, of a
//     Digit that of the code point before it (none at the start), of all others, joiners
//     included, none. A part begins at an Upper code point if the code point before it has case
//     lower, or if the code point before it has case upper and the one after it is Lower. A word
//     with such a beginning that has at most 256 code points (joiners included) yields its token
//     and then the tokens of its parts in order, each with the joiners inside it; any other word
//     yields its token alone. So HTTPServer yields httpserver, http, server; utf8Decode yields
//     utf8decode, utf8, decode; iPhone15Pro yields iphone15pro, i, phone15, pro. A hyphen or
//     underscore separates and needs no rule.
//
//  6. Bigrams. A maximal run of code points of one bigram class is folded and divided into units:
//     each folded code point is a unit, but U+3099 or U+309A (voicing marks) belongs to the unit
//     of the folded code point before it, unless that is itself one of the two or there is none.
//     A run of one unit yields it; a longer run yields each two neighbouring units as one term.
//     Bigrams skip steps 7 and 8.
//     A code point of class Emoji is a term by itself, and two of U+1F1E6..U+1F1FF that follow one
//     another are one term, from left to right. Emoji skip steps 7 and 8 too. So an emoji that a
//     joiner makes of several yields those, and one with a tone of skin that without it.
//
//  7. Cut. Tokens are cut to their first 64 code points.
//
//  8. Language. With "none", tokens are terms. With "en", a token that is a stop word (the list
//     in english.go, compared after steps 2 to 7) is dropped; a token of nothing but a-z and
//     U+0027 is replaced by its stem, or stays if the stem is empty; other tokens are terms as
//     they are. Whole words and parts pass through this alike.
//
// # Classes
//
// The first line that fits gives the class. L, M, N, P and their subdivisions are Unicode general
// categories; fold is the fold of step 2.
//
//	Apostrophe  U+0027, U+2019, U+02BC
//	FullStop    U+002E
//	Comma       U+002C
//	Ignored     U+00AD, U+200C, U+200D, U+2060; of L, M, N: what folds to nothing (such as
//	            U+0300..U+036F), U+20D0..U+20F0, variation selectors, and what has the
//	            property Other_Default_Ignorable_Code_Point (such as the Hangul fillers)
//	Kana        U+3099, U+309A, U+30FC, U+FF70, U+FF9E, U+FF9F
//	Han         script Han except P
//	Kana        scripts Hiragana and Katakana except P
//	Thai        L, M, N of this script; likewise Lao, Khmer and Myanmar
//	Emoji       U+1F1E6..U+1F1FF; of So, what folds to itself and has the property
//	            Extended_Pictographic, from U+2300 to U+2BFF and from U+1F000 on
//	Separator   all that is not L, M or N, or whose fold has a code point that is not, or
//	            U+02BC (so ½, ⑴, ŉ and ﷺ separate)
//	Digit       Nd
//	Upper       Lu, Lt
//	Lower       Ll
//	Letter      the rest of L, M, N
//
// # The stemmer
//
// The stemmer is Snowball English (Porter2) as generated into github.com/blevesearch/snowballstem/english v0.9.0: the
// algorithm as last changed in November 2006, before Snowball 2.0.0 gathered the sources in one file a language, and
// without any of the changes of 3.0.0. It can be told from other revisions by these marks:
//
//   - R1 is preset after gener, commun and arsen only: universe, universal and university share
//     the stem univers, past and paste the stem past (3.0.0 keeps them apart).
//   - Step 1b removes ed, edly, ing, ingly and then undoubles bb dd ff gg mm nn pp rr tt whatever
//     stands before: adding has the stem ad, egged the stem eg (add and egg in 3.0.0).
//   - Step 2 has ogi (after l) and no ogist: geologist stays as it is.
//   - Words left whole after step 1a: inning, outing, canning, herring, earring, proceed, exceed,
//     succeed (evening is not among them). Words with a stem of their own: skis, skies, dying,
//     lying, tying, idly, gently, ugly, early, only, singly; unchanged: sky, news, howe, atlas,
//     cosmos, bias, andes.
//   - Words of one or two characters stay.
//
// Apostrophes: a leading one is removed; then step 1a first removes a final 's', 's or ' (keeper's has the stem
// keeper); any other apostrophe stays and counts as a consonant. Words in step 4 begin and end with code points of word
// classes, so only 's arises, and an apostrophe at the end where step 7 cut there.
//
// # Escapes
//
// EscapeLine writes as escapes what would end a line, reorder it, or be shown as nothing:
//
//	0000..001F 007F 0080..009F  controls, line ends among them
//	2028..2029                  line and paragraph separator
//	061C 200E..200F 202A..202E  bidirectional marks, embeddings and overrides
//	2066..2069                  bidirectional isolates (within 2060..206F)
//	00AD 034F 180E 200B         soft hyphen, grapheme joiner, vowel separator, zero-width space
//	115F..1160 3164 FFA0        Hangul fillers, shown as nothing or a blank
//	17B4..17B5                  Khmer inherent vowels
//	2060..206F                  word joiner, invisible operators, deprecated formats
//	FE00..FE0D                  variation selectors 1 to 14
//	FEFF                        byte order mark
//	FFF0..FFFB                  unassigned ignorables and interlinear annotation
//	1BCA0..1BCA3 1D173..1D17A   shorthand and musical format controls
//	E0000..E0FFF                tags, variation selectors 17 to 256, and the ignorables there
//	FDD0..FDEF nFFFE..nFFFF     noncharacters, of each plane n
//
// These are all default-ignorable code points except U+200C and U+200D (joiners that Indic scripts and emoji need),
// U+FE0E and U+FE0F (text and emoji style), and U+180B..U+180D and U+180F (Mongolian letter forms), together with
// controls, line separators, annotations and noncharacters.
package text

//go:generate go run ./gen -dir .
