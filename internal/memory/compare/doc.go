// Package compare tells how alike two short texts are and what differs between them, without a model: whether a memory
// repeats another one in other words, or says something else.
//
// Two texts say the same if no difference is left. These do not count as differences: letter case, punctuation,
// articles, filler words, contractions, numbers in words or digits, ways to write a date, the number of a noun after an
// article, and a phrase of time or place at the beginning or end. Anything else is a difference, so that in doubt two
// texts differ: a missed repetition costs a line, a false one a fact.
//
// docs/internals/memories.md has the rules, words.txt the words: English, German, French, Spanish and Chinese. A text
// in another language is compared word by word, or character by character if words are not separated. No clock, locale,
// map order or float affects the result; the time is linear in the length of the texts but for a factor that the rules
// bound.
package compare
