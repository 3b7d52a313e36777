// Package compare tells how alike two short texts are and what differs between them, without a
// model: whether a memory was said before in other words, or says something else.
//
// Two texts say the same if nothing is left that differs. What may differ is listed: letter case,
// punctuation, articles, words that fill, contractions, numbers in words or digits, ways to write a
// date, the number of a noun after an article, and a phrase of time or place that stands first or
// last. Anything else is a difference, so that in doubt two texts differ: a missed repetition costs
// a line, a false one a fact.
//
// The rules are those of docs/internals/memories.md, with the words of words.txt: English,
// German, French, Spanish and Chinese. A text in another language is compared word by word, or sign
// by sign where words are not separated. No clock, locale, map order or float decides anything; the
// time is linear in the length of the texts but for a factor that the rules bound.
package compare
