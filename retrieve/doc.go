// Package retrieve defines the requests, answers and receipts of retrieval. The packages of internal/rank compute the
// answers.
//
// The same commit and request give the same bytes in every process, on every machine: all ranked values are integers,
// and every order is total. docs/internals/ranking.md describes every step; clauses 8, 13 and 23 of the specification
// define the encoding of requests and receipts.
//
// # Recall
//
// A request with an Intent is a recall. The intent (why, when, who or what) decides how far a recall follows each type
// of link. Each item's Recalled lists the signals that raised it; signals never lower an item.
//
// # Models
//
// The output of models is part of the request: vectors, rewrites of the query, and a reranker's scores of the best
// candidates. Only a Reranker is called during a run, because it reads what the run found; its scores go into the
// answer's resolved request, and that request gives the same answer without the model. If a model fails, the request
// lacks its output, and the answer has a warning.
//
// # Hidden states
//
// Answers leave out nodes and edges marked forgotten, superseded, expired or retired, unless the request lets the state
// through. Nodes marked stale or contradicted are shown with a state line.
//
// # Records
//
// A Receipt is a dag-cbor record of kind "receipt", version 1; the query's text is stored in a raw block that it links
// to. A Session is a record of kind "session" that links to the one before it. Profiles is a record of kind "profile"
// with defaults for requests; a commit links to it.
package retrieve
