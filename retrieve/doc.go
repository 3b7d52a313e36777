// Package retrieve answers requests: it filters, ranks, expands, packs and renders the nodes of
// one immutable commit, and records what it answered so that it can be answered again.
//
//	request -> lanes (text, vectors, or recency; time; exact) -> fuse -> expand -> communities
//	        -> recall -> rerank -> arrange -> pack -> render -> answer
//
// Everything ranked is an integer and every order is total: tier descending, score descending, id
// ascending. The same commit and request give the same bytes in every process, on every machine.
// The package reads through two small interfaces, Graph and Index, and starts no goroutines. An
// Index that has embeddings is one of Vectors too, and of SparseVectors for sparse ones; a Graph
// that knows its communities is one of Grouped.
// docs/ranking.md describes every step; requests and receipts have the form of
// clauses 8, 13 and 23 of the specification. Golden files of package rank freeze the answers.
//
// # Recall
//
// A request with an Intent is a recall. What it asks for (why, when, who or what) decides how far a
// beam search from the best candidates follows edges of which type. What that reaches, what has the
// names of the text and what has close vectors is raised; each item's Recalled has these signals. So
// the answer to a why, which may share no word with it, comes up; nothing that was found is lowered.
//
// # Models
//
// What a model says enters as a part of the request: vectors, rewrites of the query, and what a
// reranker said of the best candidates. A Reranker is the one thing that is asked in the middle of
// a run, since it reads what was found; its scores are in the answer's resolved request, and that
// request gives the same answer with nobody asked. Where a model fails the request lacks what it
// would have said, and the answer warns.
//
// # Hidden states
//
// Nodes and edges marked forgotten, superseded, expired or retired are left out of lanes, exact
// look-ups, expansion and adjacency alike, unless the request lets the state through. Nodes marked
// stale or contradicted are shown with a state line.
//
// # Likeness
//
// Two nodes are alike to the share of the terms of their texts that both have. Diversification
// weighs it against relevance. A node repeats an item only where nine tenths are shared and nothing
// differs that may change what is said: type, state, validity, a property, or the telling words,
// which are numbers, names and negations. When in doubt both are shown. Nothing here knows synonyms,
// or that "on" is not "off".
//
// # Cost
//
// What a retrieval reads follows what it ranks, not the size of the memory. Expansion reads most:
// two buckets of up to 128 nodes a round, and, for each node that a lane found and for those that
// may lend in the next round or join, how many edges it has. Which these are is known from bounds
// that need no reading; what any other node is lent is never worked out. It keeps the links that it
// looked at, at most about 1,500 a round, until the answer.
//
// # Receipt
//
// A dag-cbor record of kind "receipt", version 1; the raw block of the query's text is apart.
//
//	field       type      meaning
//	commits     [link]    the one commit
//	request     map       resolved parameters; text is a link; vectors are bytes by model,
//	                      sparse ones weights by model and term; absent times,
//	                      empty lists and maps, convex fusion, and what is at its
//	                      default of clauses 10 and 11.3 to 11.7 are left out; rewrites are
//	                      links to raw blocks; reranked is [{id bytes(16), score int}];
//	                      intent is there in a recall, as it was read from the text
//	items       [map]     in order: id bytes(16), node link, score int, tokens int,
//	                      rendered bytes(32): sha2-256 of the rendered text
//	tokens      int       sum of the items' tokens
//	dropped     int       nodes examined that did not fit the budget, or repeat an item
//	candidates  int       distinct nodes found
//	summary     bytes(32)? sha2-256 of the rendered summary, where one was asked for
//	warnings    [map]     code string, params map (left out when empty)
//	engine      map       ranking int, analyser int, language string
//
// # Session
//
// A dag-cbor record of kind "session", version 1: one link of a chain from the newest record back.
//
//	field    type      meaning
//	name     string    as the end of the ref refs/sessions/NAME
//	seq      int       0 for the first
//	prev     link?     the record before
//	commit   link?     the pinned commit; absent if and only if follow
//	follow   bool      whether the session follows HEAD
//	agent    string?   1 to 255 bytes
//	task     string?   1 to 255 bytes
//	actor    string    1 to 255 bytes
//	time     int       microseconds since 1970-01-01T00:00:00Z
//	receipt  link?     the receipt that this record adds
//	ended    bool?     true in the last record of an ended session
//
// # Profiles
//
// A dag-cbor record of kind "profile", version 1, that a commit links to: defaults for requests.
//
//	field     type     meaning
//	default   string?  name of the profile of requests that fit no other
//	profiles  map      name -> map of params (map, as in a receipt's request) and types ([string]?)
package retrieve
