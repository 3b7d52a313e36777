// Package embed turns texts into the vectors of the dense lane. They have the form of stored embeddings: int8,
// quantised by vector.Quantise, the repository's only rule.
//
// Open finds a provider by its spec:
//
//	hash           hashed features, built in: no file, no network, no meaning
//	minilm         a sentence model, built in: meaning in English, no network
//	static:DIR     a table of token vectors in a directory: meaning, no network
//	ollama:MODEL   a model of an Ollama server
//	openai:MODEL   a model behind any OpenAI-compatible endpoint
//
// Vectors of different models cannot be compared, so every record has the model's name: the result of Model. Names of
// local models include the version of their rules and, if they read files, a hash of these: they give the same vectors
// on every machine and always. Names of remote models have the provider's and the model's name, and the parameters of
// requests: "@" and the dimensions, "#" and a hash of the prefixes. A server may give other vectors later. The base URL
// is no part of the name; two servers with a model of one name are taken for one.
//
//	hash-1:en   minilm-l6-912ede31   static-1:potion-base-8M@1f2e3d4c5b6a7988   ollama:nomic-embed-text
//	openai:text-embedding-3-small@256   openai:e5-small#9a8b7c6d
//
// Errors: ErrText for a text that is refused before any request, ErrProvider for a spec of an unknown provider;
// *model.Error for a failure of a remote provider. It says whether a later attempt may succeed, and wraps an error of
// package model if one applies: ErrAnswer, ErrKey, ErrModel or ErrRedirect.
//
// # Hashed features
//
// The model "hash-1:LANGUAGE" finds other forms and misspellings of words, not their meaning. Its
// vectors have 512 dimensions and are the same on every machine; these rules are normative, and
// testdata/hash.jsonl has vectors of a second implementation:
//
//  1. Terms. The text is analysed by clause 6 of docs/internals/ranking.md (package internal/base/text) in the
//     language of the model, "en" or "none". A term counts as often as it occurs.
//
//  2. Features. A term yields one word feature, the byte 'w' and the term's UTF-8, of weight 4;
//     and n-gram features of weight 1: '<' and '>' are put around the term, and for n = 3, 4, 5,
//     as long as n is less than the number of code points of this padded term, each run of n code
//     points in it yields the byte 'g' and the run's UTF-8. So "abc" yields wabc, g<ab, gabc,
//     gbc>, g<abc and gabc>.
//
//  3. Hash. A feature is the 64-bit FNV-1a hash of its bytes and its weight; features with the
//     same hash and weight are one. Let n be how often it occurred in the whole text.
//
//  4. Finish. All modulo 2^64, x >> k a shift that fills with zeros: h = h xor (h >> 33);
//     h = h * 0xff51afd7ed558ccd; h = h xor (h >> 33); h = h * 0xc4ceb9fe1a85ec53;
//     h = h xor (h >> 33).
//
//  5. Sum. Of 512 integers that begin as 0, each feature adds weight * (65536 + L(n)) to number
//     h mod 512 if h < 2^63, and else subtracts it there. L is the logarithm of clause 9 of the
//     specification, in units of 2^-16 (package internal/base/fixed).
//
//  6. Quantise. All zeros: there is no vector. Else the integers, as binary64, are quantised as
//     clause 3.6 says: RoundHalfEven(x * 127 / m), m the largest absolute value.
//
// # Static models
//
// A directory as Model2Vec saves it (or the directory 0_StaticEmbedding of a sentence-transformers
// model) holds a vector for each token; a text's vector is their sum. What is read:
//
//	tokenizer.json     the model WordPiece; the normalizer BertNormalizer or null; the
//	                   pre-tokenizer BertPreTokenizer; added tokens only if special, and these
//	                   are not looked for in texts. Anything else is refused. At most 64 MiB.
//	model.safetensors  "embeddings" or "embedding.weight": rows by dimensions of F32, F16, BF16 or
//	                   I8; "mapping" (optional; I32 or I64): the row of each token; "weights"
//	                   (optional; F32 or F64): the factor of each token. At most 1 GiB.
//	config.json        optional; "normalize" must be a boolean, and makes no difference, since an
//	                   int8 vector has no length of its own. At most 1 MiB.
//
// The name is "static-1:NAME@HASH": NAME the directory's unless another is given, HASH the first 16 hexadecimal digits
// of the sha-256 of the sha-256 of tokenizer.json and that of model.safetensors. The rules:
//
//  1. Tokens. The text is split as BERT does it, with the tables of package bert: strip_accents that
//     is null or absent means the value of lowercase. Each code point is mapped by itself, so two
//     combining marks that survive stay in the order they have. Words longer than
//     max_input_chars_per_word or without pieces are unknown, and the unknown token has no
//     vector. Nothing is cut off: max_length, truncation and padding are not read.
//
//  2. Integers. Let y = w * x for each number x of the row of a token with the weight w (1 without
//     "weights"), one rounded product in binary64; let s be the power of two with
//     2^22 <= s * max |y| < 2^23 over all tokens there are weights for, in the mapping, or else
//     rows. A token's integers are RoundHalfEven(s * y).
//
//  3. Sum and quantise. The integers of all tokens are summed exactly, and quantised as above. No
//     token, or all zeros: there is no vector.
//
// # Remote models
//
// Texts go in batches (64 texts or 512 KiB, whichever is less) to POST /api/embed or POST /v1/embeddings; blank ones
// are not sent. Ollama cuts texts that are longer than its model's context; an OpenAI-compatible server refuses them.
// Numbers are read as the nearest binary64 and quantised; a vector of zeros, of another length than the others, or with
// a number that is none is an error (model.ErrAnswer), as is a list of another length than the texts'.
package embed
